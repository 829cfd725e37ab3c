import * as THREE from "three";
import { colour } from "../theme";

/** The server: a body, four arms, four rotors. */
export function drone(paint: string): THREE.Group {
  const faint = paint === "faint";
  const skin = new THREE.MeshStandardMaterial({ color: colour(paint), roughness: 0.5,
    transparent: faint, opacity: faint ? 0.55 : 1 });
  const group = new THREE.Group();
  const body = new THREE.Mesh(new THREE.SphereGeometry(1.7, 20, 14), skin);
  body.scale.z = 0.65;
  group.add(body);
  for (const turn of [0.25, 0.75, 1.25, 1.75]) {
    const [x, y] = [3.1 * Math.cos(turn * Math.PI), 3.1 * Math.sin(turn * Math.PI)];
    const arm = new THREE.Mesh(new THREE.CylinderGeometry(0.22, 0.22, 3.1), skin);
    arm.position.set(x / 2, y / 2, 0.2);
    arm.rotation.z = turn * Math.PI - Math.PI / 2;
    const rotor = new THREE.Mesh(new THREE.TorusGeometry(1.25, 0.16, 8, 28), skin);
    rotor.position.set(x, y, 0.5);
    group.add(arm, rotor);
  }
  return group;
}
