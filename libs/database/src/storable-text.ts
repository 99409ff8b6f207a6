/**
 * PostgreSQL text has every character but U+0000, which a device may send in its names. It is replaced by U+FFFD in rows and
 * in filters, so that such a delivery is stored and found.
 */
export function storableText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}
