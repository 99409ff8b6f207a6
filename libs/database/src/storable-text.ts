/**
 * PostgreSQL text holds every character but U+0000, and a device may well send one in its names. It is kept as U+FFFD, in
 * rows and in filters alike, so that such a delivery is stored and found.
 */
export const storableText = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text);
