/** Cuts a text into non-empty pieces at these places (each modulo its length). */
export function cut(text: string, cuts: readonly number[]): string[] {
  const places = [...new Set(cuts.map((place) => place % (text.length + 1)))].sort((left, right) => left - right);
  return [0, ...places]
    .map((from, index) => text.slice(from, places[index] ?? text.length))
    .filter((piece) => piece !== '');
}
