// The fonts of the page inside a file: an SVG or HTML file cannot use those of the page.

const SCRIPTS: [string, RegExp, string][] = [
  ["devanagari", /[\u0900-\u097f]/, "U+900-97F,U+200C-200D,U+25CC"],
  ["kana", /[\u3000-\u30ff\uff01-\uff1f]/, "U+3000-30FF,U+FF01-FF1F"],
  ["hangul", /[\u1100-\u11c2\u3131-\u3163\uac00-\ud7a3]/, "U+1100-11C2,U+3131-3163,U+AC00-D7A3"],
  ["symbols", /[\u2400-\u2421]/, "U+2400-2421"],
];

async function base64(path: string): Promise<string> {
  const bytes = new Uint8Array(await (await fetch(path)).arrayBuffer());
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text);
}

/** @font-face rules for the scripts in `text`; in a self-contained page: the rules that it has. */
export async function fontFaces(text: string): Promise<string> {
  const own = document.getElementById("fonts")?.textContent;
  if (own !== undefined && own !== null) return own;
  const rules = SCRIPTS.filter(([, found]) => found.test(text)).map(async ([name, , range]) => {
    const data = await base64(`fonts/${name}.woff2`);
    return `@font-face{font-family:"regard";unicode-range:${range};src:url(data:font/woff2;base64,${data}) format("woff2")}`;
  });
  return (await Promise.all(rules)).join("");
}
