/** What the browser makes of colors of the style sheet: a canvas knows neither variables nor light-dark(). */
export function colorsOf<Name extends string>(element: HTMLElement, names: readonly Name[]): Record<Name, string> {
  const style = getComputedStyle(element);
  const before = element.style.color;
  const colors = names.map((name) => {
    element.style.color = `var(--${name})`;
    return [name, style.color];
  });
  element.style.color = before;
  return Object.fromEntries(colors) as Record<Name, string>;
}

/** Calls back whenever the colors may be others: the system changes to dark, or the page is given a style. */
export function watchColors(changed: () => void): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const observer = new MutationObserver(changed);
  dark.addEventListener('change', changed);
  observer.observe(document.documentElement, { attributes: true });
  return () => {
    dark.removeEventListener('change', changed);
    observer.disconnect();
  };
}
