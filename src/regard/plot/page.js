// Brings the heat-maps of a self-contained page to life: chooser, keyboard grid, ribbons, and a sentence that says what is seen.
"use strict";
(() => {
  const sentences = JSON.parse(document.getElementById("sentences").textContent);
  const articles = [...document.querySelectorAll("article[data-sentence]")];
  const chooser = document.getElementById("choose");
  const SHOWN = 0.05; // ribbons thinner than this are left out, and the page says how much that is
  const FULL = 30; // more words than this: small cells without numbers
  const percent = (weight) => Math.round(weight * 100);
  let repaint = () => {};

  const make = (tag, attributes = {}, ...children) => {
    const node = tag === "svg" || tag === "path"
      ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };

  // A word is always text, never HTML, and keeps its own direction and language.
  const word = ([text, special], language) => {
    if (special) return make("span", { class: "chip" }, text);
    const node = make("bdi", { dir: "auto" }, text);
    if (language) node.lang = language;
    return node;
  };

  const colours = () => getComputedStyle(document.documentElement).getPropertyValue("--ramp").split(",")
    .map((hex) => [1, 3, 5].map((at) => parseInt(hex.trim().slice(at, at + 2), 16)));
  const luminance = (rgb) => rgb.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  // Background and ink for each of 201 weights; black or white ink always reaches a contrast of 4.5 to 1.
  const palette = (ramp) => Array.from({ length: 201 }, (_, step) => {
    const at = (step / 200) * (ramp.length - 1);
    const low = Math.min(Math.floor(at), ramp.length - 2);
    const rgb = ramp[low].map((c, i) => Math.round(c + (ramp[low + 1][i] - c) * (at - low)));
    const light = luminance(rgb);
    return `background-color:rgb(${rgb.join(",")});color:${1.05 / (light + 0.05) > (light + 0.05) / 0.05 ? "#fff" : "#000"}`;
  });

  const buildRibbons = (sentence) => {
    const [sourceLanguage, targetLanguage] = sentence.languages;
    const list = (words, language, name) => make("ol", { "aria-label": name },
      ...words.map((each) => make("li", {}, word(each, language))));
    const above = list(sentence.source, sourceLanguage, "source, read");
    const below = list(sentence.target, targetLanguage, "target, written");
    const svg = make("svg", { "aria-hidden": "true" });
    const box = make("div", { class: "ribbons" }, above, svg, below);
    const paths = [];
    const draw = () => {
      const frame = svg.getBoundingClientRect(); // everything is measured before anything is changed
      const middle = (node) => { const r = node.getBoundingClientRect(); return r.left + r.width / 2 - frame.left; };
      const tops = [...above.children].map(middle), ends = [...below.children].map(middle), h = frame.height;
      paths.length = 0;
      sentence.weights.forEach((row, t) => row.forEach((weight, s) => {
        if (weight < SHOWN) return;
        const [from, to] = [tops[s], ends[t]];
        const path = make("path", {
          d: `M${from} 0C${from} ${h / 2} ${to} ${h / 2} ${to} ${h}`,
          "stroke-width": (1 + weight * 9).toFixed(1), "stroke-opacity": (0.12 + weight * 0.6).toFixed(2),
        });
        paths.push([path, t, s]);
      }));
      svg.replaceChildren(...paths.map(([path]) => path));
    };
    const light = (target, source) => {
      const busy = target !== null || source !== null;
      box.classList.toggle("busy", busy);
      for (const [path, t, s] of paths)
        path.classList.toggle("on", busy && (target === null || t === target) && (source === null || s === source));
      [...above.children].forEach((node, s) => node.classList.toggle("on", s === source));
      [...below.children].forEach((node, t) => node.classList.toggle("on", t === target));
    };
    // A cell of a long sentence brings its ribbon into view.
    const bring = (t, s) => {
      const frame = box.parentNode.getBoundingClientRect();
      const spots = [above.children[s], below.children[t]].map((node) => node.getBoundingClientRect());
      const [first, last] = [Math.min(...spots.map((r) => r.left)), Math.max(...spots.map((r) => r.right))];
      if (first < frame.left || last > frame.right) box.parentNode.scrollLeft += (first + last) / 2 - (frame.left + frame.right) / 2;
    };
    return { box, above, below, draw, light, bring };
  };

  const buildMap = (sentence, name) => {
    const [sourceLanguage, targetLanguage] = sentence.languages;
    const sure = new Set(sentence.sure.map(String)), possible = new Set(sentence.possible.map(String));
    const columns = sentence.source.map((each) => make("th", { scope: "col", role: "columnheader" }, word(each, sourceLanguage)));
    const rows = [], cells = [];
    const body = make("tbody", { role: "rowgroup" });
    const blank = make("td", { role: "gridcell", tabindex: "-1", "aria-selected": "false" });
    sentence.weights.forEach((weights, t) => {
      const head = make("th", { scope: "row", role: "rowheader" }, word(sentence.target[t], targetLanguage));
      const line = weights.map((weight, s) => {
        const cell = blank.cloneNode(false); // copies are much cheaper than new cells, and there may be 14,400
        cell.setAttribute("aria-label", `${percent(weight)} percent`);
        if (weight >= 0.005) cell.textContent = percent(weight);
        if (weight < SHOWN) cell.classList.add("faint");
        if (possible.has(`${s},${t}`)) cell.classList.add(sure.has(`${s},${t}`) ? "sure" : "possible");
        return cell;
      });
      rows.push(head);
      cells.push(line);
      body.append(make("tr", { role: "row" }, head, ...line));
    });
    const corner = make("td", { role: "presentation", class: "corner" });
    const table = make("table", { class: "map", role: "grid", dir: "ltr", "aria-label": name, "aria-readonly": "true" },
      make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, corner, ...columns)), body);
    if (Math.max(rows.length, columns.length) > FULL) table.classList.add("small");
    if (columns.length > 14 || sentence.source.some(([text]) => text.length > 12)) table.classList.add("upright");
    return { table, cells, rows, columns };
  };

  const wake = (article, sentence) => {
    const stage = article.querySelector(".stage");
    if (!sentence.weights || stage.dataset.awake) return;
    stage.dataset.awake = "yes";
    const ribbons = buildRibbons(sentence);
    const map = buildMap(sentence, stage.dataset.name);
    const says = make("p", { class: "says", role: "status", "aria-live": "polite" });
    const invitation = "Point at a cell or a word, or move through the map with the arrow keys.";
    stage.append(make("div", { class: "scroll", "data-name": "ribbons between the sentences" }, ribbons.box), says, make("div", { class: "scroll map-frame" }, map.table));
    const [sourceLanguage, targetLanguage] = sentence.languages;
    const targetCount = map.rows.length, sourceCount = map.columns.length;
    let pinned = null, seat = [0, 0];

    const strongest = (entries, limit = 3) => entries.filter(([, weight]) => weight >= SHOWN)
      .sort((a, b) => b[1] - a[1]).slice(0, limit);
    const joined = (parts) => parts.flatMap((part, i) => (i ? [", ", ...part] : part));
    const speak = (t, s) => {
      if (t === null && s === null) return says.replaceChildren(invitation);
      const target = (i) => word(sentence.target[i], targetLanguage), source = (i) => word(sentence.source[i], sourceLanguage);
      if (s === null) {
        const seen = strongest(sentence.weights[t].map((weight, i) => [i, weight]));
        const parts = seen.map(([i, weight]) => [`${percent(weight)} percent to `, source(i)]);
        return says.replaceChildren(target(t), " attends ", ...(parts.length ? joined(parts) : ["to no word in particular"]));
      }
      if (t === null) {
        const seen = strongest(sentence.weights.map((row, i) => [i, row[s]]));
        const parts = seen.map(([i, weight]) => [target(i), ` (${percent(weight)} percent)`]);
        return says.replaceChildren(source(s), ...(parts.length ? [" is looked at by ", ...joined(parts)] : [" is hardly looked at"]));
      }
      const link = map.cells[t][s].classList;
      const gold = link.contains("sure") ? "; a sure gold link" : link.contains("possible") ? "; a possible gold link" : "";
      const pin = pinned && pinned[0] === t && pinned[1] === s ? " (pinned)" : "";
      return says.replaceChildren(target(t), ` attends ${percent(sentence.weights[t][s])} percent to `, source(s), gold + pin);
    };
    const show = (t, s) => {
      table.querySelectorAll(".cross").forEach((cell) => cell.classList.remove("cross"));
      if (t !== null) map.cells[t].forEach((cell) => cell.classList.add("cross"));
      if (s !== null) map.cells.forEach((line) => line[s].classList.add("cross"));
      map.rows.forEach((head, i) => head.classList.toggle("on", i === t));
      map.columns.forEach((head, i) => head.classList.toggle("on", i === s));
      ribbons.light(t, s);
      if (t !== null && s !== null) ribbons.bring(t, s);
      speak(t, s);
    };
    const table = map.table;
    const rest = () => (pinned ? show(...pinned) : table.contains(document.activeElement) ? show(...seat) : show(null, null));
    const sit = (t, s) => {
      map.cells[seat[0]][seat[1]].tabIndex = -1;
      seat = [Math.min(Math.max(t, 0), targetCount - 1), Math.min(Math.max(s, 0), sourceCount - 1)];
      map.cells[seat[0]][seat[1]].tabIndex = 0;
    };
    const go = (t, s) => { sit(t, s); map.cells[seat[0]][seat[1]].focus(); };
    const pin = (t, s) => {
      if (pinned) map.cells[pinned[0]][pinned[1]].setAttribute("aria-selected", "false");
      pinned = pinned && pinned[0] === t && pinned[1] === s ? null : [t, s];
      if (pinned) map.cells[t][s].setAttribute("aria-selected", "true");
      show(t, s);
    };
    const place = (event) => {
      const cell = event.target.closest("td[role=gridcell]");
      return cell ? [cell.parentNode.sectionRowIndex, cell.cellIndex - 1] : null;
    };
    table.addEventListener("keydown", (event) => {
      const at = place(event);
      if (!at) return;
      const [t, s] = at, far = event.ctrlKey || event.metaKey;
      const moves = {
        ArrowLeft: [t, s - 1], ArrowRight: [t, s + 1], ArrowUp: [t - 1, s], ArrowDown: [t + 1, s],
        Home: [far ? 0 : t, 0], End: [far ? targetCount - 1 : t, sourceCount - 1], PageUp: [t - 10, s], PageDown: [t + 10, s],
      };
      if (event.altKey) return;
      if (moves[event.key]) go(...moves[event.key]);
      else if (event.key === "Enter" || event.key === " ") pin(t, s);
      else if (event.key === "Escape") {
        if (pinned) pin(...pinned);
        show(null, null);
      } else return;
      event.preventDefault();
    });
    table.addEventListener("focusin", (event) => { const at = place(event); if (at) { sit(...at); show(...at); } });
    table.addEventListener("focusout", rest);
    table.addEventListener("pointerover", (event) => { const at = place(event); if (at) show(...at); });
    table.addEventListener("pointerleave", rest);
    table.addEventListener("click", (event) => { const at = place(event); if (at) { go(...at); pin(...at); } });
    for (const [heads, row] of [[map.rows, true], [map.columns, false], [[...ribbons.below.children], true], [[...ribbons.above.children], false]])
      heads.forEach((node, i) => {
        node.addEventListener("pointerenter", () => (row ? show(i, null) : show(null, i)));
        node.addEventListener("pointerleave", rest);
      });
    sit(0, 0);
    speak(null, null);
    const total = sentence.weights.flat().reduce((sum, weight) => sum + weight, 0);
    const kept = sentence.weights.flat().filter((weight) => weight >= SHOWN).reduce((sum, weight) => sum + weight, 0);
    if (total > 0) ribbons.box.parentNode.after(make("p", { class: "soft" }, `The ribbons show ${percent(kept / total)} % of the attention.`));
    article.paint = () => {
      const inks = palette(colours());
      sentence.weights.forEach((row, t) => row.forEach((weight, s) => { map.cells[t][s].style.cssText = inks[Math.round(weight * 200)]; }));
      ribbons.draw();
    };
  };

  // Only what really scrolls becomes a stop of the tab key, and says what it is.
  const openScrollers = () => document.querySelectorAll(".scroll").forEach((node) => {
    const scrolls = node.scrollWidth > node.clientWidth + 1 && !node.querySelector("[tabindex]");
    const named = { tabindex: "0", role: "region", "aria-label": node.dataset.name || "wide content, scrolls sideways" };
    for (const [name, value] of Object.entries(named)) if (scrolls) node.setAttribute(name, value); else node.removeAttribute(name);
  });

  const choose = (number, write) => {
    const index = Math.min(Math.max(number, 0), articles.length - 1);
    articles.forEach((article, i) => { article.hidden = i !== index; });
    wake(articles[index], sentences[index]);
    repaint = () => { if (articles[index].paint) articles[index].paint(); openScrollers(); };
    repaint();
    if (chooser) chooser.value = String(index);
    if (write) history.replaceState(null, "", `#sentence-${index + 1}`);
  };
  const fromAddress = () => Number((/^#sentence-(\d+)$/.exec(location.hash) || [0, 1])[1]) - 1;

  document.addEventListener("toggle", openScrollers, true);
  addEventListener("resize", () => repaint());
  document.fonts.addEventListener("loadingdone", () => repaint()); // embedded fonts arrive after the first measurement
  if (!articles.length) {
    repaint = openScrollers;
    repaint();
  } else {
    document.querySelectorAll(".lively").forEach((node) => { node.hidden = false; });
    if (chooser) {
      chooser.addEventListener("change", () => choose(Number(chooser.value), true));
      document.getElementById("previous").addEventListener("click", () => choose(Number(chooser.value) - 1, true));
      document.getElementById("next").addEventListener("click", () => choose(Number(chooser.value) + 1, true));
    }
    addEventListener("hashchange", () => choose(fromAddress(), false));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => repaint());
    choose(fromAddress(), false);
  }
})();
