import { expect, test } from "vitest";
import { blocks, runs } from "./markdown";

test("inline code, strong and emphasis are cut out, everything else is text", () => {
  expect(runs("**Write** `a*b*c` *now* <b>x</b>")).toEqual([
    { kind: "strong", text: "Write" },
    { kind: "text", text: " " },
    { kind: "code", text: "a*b*c" },
    { kind: "text", text: " " },
    { kind: "emphasis", text: "now" },
    { kind: "text", text: " <b>x</b>" },
  ]);
});

test("headings, paragraphs, lists and both kinds of code", () => {
  const found = blocks("# 3 · Masking\n\none\ntwo\n\n    e = 1\n\n      f = 2\n\n```\nx\n\ny\n```\n- a\n  b\n- c\n");
  expect(found.map((one) => one.kind)).toEqual(["heading", "paragraph", "code", "code", "list"]);
  expect(found[1]).toEqual({ kind: "paragraph", runs: [{ kind: "text", text: "one two" }] });
  expect(found[2]).toEqual({ kind: "code", text: "e = 1\n\n  f = 2" });
  expect(found[3]).toEqual({ kind: "code", text: "x\n\ny" });
  expect(found[4]).toMatchObject({ ordered: false, items: [[{ text: "a b" }], [{ text: "c" }]] });
});

test("an unclosed fence ends with the text", () => {
  expect(blocks("```\nx")).toEqual([{ kind: "code", text: "x" }]);
});
