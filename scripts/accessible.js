// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What of the page that is open cannot be read by everyone: a list of lines. An expression, for DevTools' Runtime.evaluate;
// the window must be as large as the page, for the colours behind a text are asked of its places.
(() => {
  const faults = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const short = (text) => text.trim().replace(/\s+/g, ' ').slice(0, 40);
  const named = (e) => (e.getAttribute('aria-label') || '').trim() !== '' ||
    (e.getAttribute('aria-labelledby') || '').split(/\s+/).some((id) => document.getElementById(id)?.textContent.trim());
  const hidden = (e) => e.closest('[aria-hidden=true], [hidden]') !== null || !e.checkVisibility();

  if (!document.documentElement.lang) faults.push('html has no lang');
  if (!document.title.trim()) faults.push('the page has no title');
  if (!document.querySelector('meta[name=viewport]')) faults.push('the page has no viewport');

  const ids = all('[id]').map((e) => e.id);
  for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) faults.push(`id ${id} twice`);

  for (const svg of all('svg')) {
    if (svg.parentElement.closest('svg') || hidden(svg)) continue;
    const title = [...svg.children].find((c) => c.tagName === 'title')?.textContent.trim();
    if (!named(svg) && !title) faults.push(`svg ${all('svg').indexOf(svg) + 1} has neither title nor aria-label`);
    else if (svg.getAttribute('role') !== 'img') faults.push(`svg "${short(svg.getAttribute('aria-label') || title)}" has not the role img`);
  }
  for (const image of all('img')) if (!image.hasAttribute('alt')) faults.push(`img ${short(image.src)} has no alt`);
  for (const frame of all('iframe')) if (!frame.title && !named(frame) && !hidden(frame)) faults.push('iframe has no title');

  // A table needs a caption, a label or a heading of its own; its columns need headings.
  let heading = null;
  for (const e of all('h1, h2, h3, h4, h5, h6, table')) {
    if (e.tagName !== 'TABLE') { heading = e; continue; }
    if (hidden(e)) continue;
    if (!e.caption?.textContent.trim() && !named(e) && !heading) {
      faults.push(`table "${short(e.textContent)}" has neither caption nor heading`);
    }
    if (!e.querySelector('th')) faults.push(`table "${short(e.textContent)}" has no th`);
    heading = null;
  }

  const levels = all('h1, h2, h3, h4, h5, h6').filter((e) => !hidden(e));
  if (levels.filter((e) => e.tagName === 'H1').length !== 1) faults.push('the page has not one h1');
  let last = 0;
  for (const e of levels) {
    const level = Number(e.tagName[1]);
    if (level > last + 1) faults.push(`heading "${short(e.textContent)}": h${level} behind h${last}`);
    if (!e.textContent.trim()) faults.push(`h${level} is empty`);
    last = level;
  }

  for (const e of all('a[href], button, input, select, textarea, summary')) {
    if (hidden(e) || e.type === 'hidden') continue;
    const label = (e.labels && [...e.labels].some((l) => l.textContent.trim())) || e.title || e.querySelector?.('img[alt]:not([alt=""])');
    if (!named(e) && !label && !e.textContent.trim()) faults.push(`${e.tagName.toLowerCase()} has no name`);
  }

  // Contrast: WCAG's ratio of the text's colour and of what is behind its middle.
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const luminance = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const opacity = (e) => e ? Number(getComputedStyle(e).opacity) * opacity(e.parentElement) : 1;
  const isShape = (e) => e instanceof SVGElement && e.tagName !== 'svg';
  const paint = (e) => {
    const style = getComputedStyle(e);
    if (!isShape(e)) return rgba(style.backgroundColor);
    if (e.tagName === 'text' || e.tagName === 'tspan' || style.fill === 'none') return [0, 0, 0, 0];
    const colour = rgba(style.fill);
    return [...colour.slice(0, 3), colour[3] * Number(style.fillOpacity) * opacity(e)];
  };
  const canvasColour = over(rgba(getComputedStyle(document.body).backgroundColor), over(rgba(getComputedStyle(document.documentElement).backgroundColor),
    [255, 255, 255, 1]));
  const behind = (e, x, y) => document.elementsFromPoint(x, y)
    .filter((other) => isShape(other) ? !e.contains(other) : other.contains(e) || isShape(e))
    .reduceRight((below, other) => over(paint(other), below), canvasColour);

  const seen = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    if (!node.data.trim() || hidden(e) || e.closest('script, style, noscript, title, desc, option')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    if (box.width < 1 || box.height < 1 || x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
    const style = getComputedStyle(e);
    const back = behind(e, x, y);
    const own = rgba(isShape(e) ? style.fill : style.color);
    own[3] *= opacity(e) * (isShape(e) ? Number(style.fillOpacity) : 1);
    const [high, low] = [luminance(over(own, back)), luminance(back)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    const line = `text "${short(node.data)}" has contrast ${ratio.toFixed(2)}`;
    if (ratio < 4.5 && !seen.has(line)) faults.push(line);
    seen.add(line);
  }
  return {faults, texts: seen.size};
})()
