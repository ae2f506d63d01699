/* Return the kinds of text in an element whose contrast with what is behind is below 4.5 to 1. */
(place) => {
  const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });

  const rgba = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };

  const over = (top, below) => [0, 1, 2].map((c) => top[c] * top[3] + below[c] * (1 - top[3]));

  // Relative luminance as WCAG 2 defines it.
  const luminance = (colour) => {
    const [r, g, b] = colour.map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };

  const behind = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) {
      layers.unshift(rgba(getComputedStyle(at).backgroundColor));
    }
    return layers.reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };

  const weak = new Set();
  const walker = document.createTreeWalker(document.querySelector(place), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    const seen = node.checkVisibility() && !node.closest(".hidden, title, desc");
    if (!walker.currentNode.data.trim() || !seen) continue;
    const style = getComputedStyle(node);
    const paper = behind(node);
    const ink = over(rgba(node.closest("svg") ? style.fill : style.color), paper);
    const [high, low] = [luminance(ink), luminance(paper)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) weak.add(`${node.tagName}.${node.className} ${ratio.toFixed(2)}`);
  }
  return [...weak];
};
