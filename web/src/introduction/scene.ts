/** A step of the introduction. */
export interface Scene {
  name: string; // in the strip of steps
  title: string;
  picture: HTMLElement;
  words: HTMLElement[];
}
