/** Which numbers a field accepts, in words and as a test. */
export interface NumberRule {
  allowed: string;
  accepts: (value: number) => boolean;
}

export const ANY: NumberRule = { allowed: "a number", accepts: () => true };
export const POSITIVE: NumberRule = { allowed: "more than 0", accepts: (value) => value > 0 };
export const NOT_NEGATIVE: NumberRule = { allowed: "at least 0", accepts: (value) => value >= 0 };
export const PROBABILITY: NumberRule = { allowed: "from 0 to 1", accepts: (value) => value >= 0 && value <= 1 };
export const WHOLE: NumberRule = { allowed: "a whole number, at least 0",
  accepts: (value) => Number.isInteger(value) && value >= 0 };

export const inRange = (high: number): NumberRule => ({ allowed: `from 0 to ${high}`,
  accepts: (value) => value >= 0 && value <= high });

/** Why a text is no number that a rule accepts; null if it is one. */
export function refusal(label: string, text: string, rule: NumberRule): string | null {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) return `${label} must be ${ANY.allowed}; ${text.trim() || "an empty field"} was refused.`;
  return rule.accepts(value) ? null : `${label} must be ${rule.allowed}; ${text} was refused.`;
}
