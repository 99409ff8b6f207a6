import type { Request } from 'express';

/**
 * Sets the `Location` of a 201: the id of what was made, below the path that the request went to. Of several it
 * is the first. Returns what was made.
 */
export async function setLocation<T extends { readonly id: string } | readonly { readonly id: string }[]>(
  { baseUrl, path, res }: Request,
  made: Promise<T>,
): Promise<T> {
  const created = await made;
  const [first] = [created].flat() as { readonly id: string }[];
  if (first !== undefined) res?.location(`${baseUrl}${path.replace(/\/$/, '')}/${first.id}`);
  return created;
}
