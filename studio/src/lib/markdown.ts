// The little Markdown that exercises use, as data: text never becomes HTML.

export interface Run {
  kind: "text" | "code" | "strong" | "emphasis";
  text: string;
}
export type Block =
  | { kind: "heading"; level: number; runs: Run[] }
  | { kind: "paragraph"; runs: Run[] }
  | { kind: "list"; ordered: boolean; items: Run[][] }
  | { kind: "code"; text: string };

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*/g;

export function runs(text: string): Run[] {
  const found: Run[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > end) found.push({ kind: "text", text: text.slice(end, match.index) });
    const kind = match[1] !== undefined ? "code" : match[2] !== undefined ? "strong" : "emphasis";
    found.push({ kind, text: match[1] ?? match[2] ?? match[3] });
    end = match.index + match[0].length;
  }
  if (end < text.length) found.push({ kind: "text", text: text.slice(end) });
  return found;
}

export function blocks(markdown: string): Block[] {
  const lines = markdown.split("\n");
  const found: Block[] = [];
  const until = (i: number, ends: (line: string) => boolean) => {
    while (i < lines.length && !ends(lines[i])) i++;
    return i;
  };
  for (let i = 0; i < lines.length; ) {
    const line = lines[i];
    const heading = /^(#{1,4}) (.+)/.exec(line);
    const item = /^(?:[-*]|(\d+)\.) (.+)/.exec(line);
    if (!line.trim()) i++;
    else if (line.startsWith("```")) {
      const end = until(i + 1, (one) => one.startsWith("```"));
      found.push({ kind: "code", text: lines.slice(i + 1, end).join("\n") });
      i = end + 1;
    } else if (line.startsWith("    ")) {
      const end = until(i, (one) => one.trim() !== "" && !one.startsWith("    "));
      found.push({ kind: "code", text: lines.slice(i, end).map((one) => one.slice(4)).join("\n").trimEnd() });
      i = end;
    } else if (heading) {
      found.push({ kind: "heading", level: heading[1].length, runs: runs(heading[2]) });
      i++;
    } else if (item) {
      const items: Run[][] = [];
      while (i < lines.length && /^(?:[-*]|\d+\.) /.test(lines[i])) {
        const end = until(i + 1, (one) => !/^ {2,}\S/.test(one));
        const text = lines.slice(i, end).map((one) => one.trim()).join(" ");
        items.push(runs(text.replace(/^(?:[-*]|\d+\.) /, "")));
        i = end;
      }
      found.push({ kind: "list", ordered: item[1] !== undefined, items });
    } else {
      const end = until(i + 1, (one) => !one.trim() || one.startsWith("```") || /^#{1,4} /.test(one));
      found.push({ kind: "paragraph", runs: runs(lines.slice(i, end).join(" ")) });
      i = end;
    }
  }
  return found;
}
