import { expect, test } from "vitest";
import { fixed, share, signed } from "./number";

test("minus signs are real and zero has none", () => {
  expect([fixed(-1.234), fixed(-0.001), fixed(2, 0)]).toEqual(["−1.23", "0.00", "2"]);
  expect([signed(0.5), signed(-0.5), signed(0.001)]).toEqual(["+0.50", "−0.50", "0.00"]);
});

test("a small share is not shown as zero", () => {
  expect([share(0), share(0.004), share(0.006), share(1)]).toEqual(["0", "<1", "1", "100"]);
});
