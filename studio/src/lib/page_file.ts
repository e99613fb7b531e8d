// The HTML export of the studio; not part of view.js, which stands inside a script element.
import { fontFaces } from "./fonts";
import { texts, type Shown } from "./saving";

const inScript = (value: unknown) =>
  JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** One self-contained page with the same components; `regard translate --html` writes the same. */
export async function htmlFile(shown: Shown): Promise<Blob> {
  const [script, style] = await Promise.all(["view.js", "view.css"].map(async (path) => (await fetch(path)).text()));
  const fonts = await fontFaces(texts(shown));
  let allowed = "'unsafe-inline'";
  if (globalThis.crypto?.subtle) {
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(script)));
    allowed = `'sha256-${btoa(String.fromCharCode(...hash))}'`;
  }
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src ${allowed}; font-src data:; img-src data: blob:; base-uri 'none'; form-action 'none'`;
  const payload = inScript([shown.document]);
  return new Blob(
    [
      `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n`,
      `<meta name="viewport" content="width=device-width, initial-scale=1">\n`,
      `<meta http-equiv="Content-Security-Policy" content="${policy}">\n<meta name="generator" content="regard">\n`,
      `<title>Where the model looked</title>\n<style id="fonts">${fonts}</style>\n<style>${style}</style>\n</head>\n<body>\n`,
      `<header><h1>Where the model looked</h1></header>\n<main id="view"></main>\n<script type="application/json" id="documents">${payload}</script>\n<script>${script}</script>\n</body>\n</html>\n`,
    ],
    { type: "text/html;charset=utf-8" },
  );
}
