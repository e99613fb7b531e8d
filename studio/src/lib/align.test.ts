import { expect, test } from "vitest";
import { pairs } from "./align";

test("a changed word is one pair", () => {
  expect(pairs(["le", "chat", "noir"], ["le", "chien", "noir"])).toEqual([[0, 0], [1, 1], [2, 2]]);
});

test("an added word has no partner", () => {
  expect(pairs(["le", "chat"], ["le", "petit", "chat"])).toEqual([[0, 0], [null, 1], [1, 2]]);
  expect(pairs([], ["a"])).toEqual([[null, 0]]);
});
