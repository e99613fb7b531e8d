// Numbers as people read them: a real minus sign, no negative zero, shares below 1 % named as such.

export function fixed(value: number, digits = 2): string {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

export const signed = (value: number, digits = 2): string => (Number(value.toFixed(digits)) > 0 ? "+" : "") + fixed(value, digits);

/** 0.004 is "<1": a probability is not shown as 0 where it is not. */
export const share = (value: number): string => (value > 0 && value < 0.005 ? "<1" : `${Math.round(100 * value)}`);
