import { join } from 'node:path';
import { webhookSchemas } from '@waypost/contracts';
import { asyncApiDocument } from './asyncapi/asyncapi-document.js';
import { formatted } from './formatted.js';

/** The documents for subscribers and analysts: folder under `schemas/`, then file name, to exact text. */
export async function publishedDocuments(schemasDir: string): Promise<Map<string, Map<string, string>>> {
  const webhooks = webhookSchemas();
  const folders = new Map<string, ReadonlyMap<string, object>>([
    ['webhooks', webhooks],
    ['asyncapi', new Map([['asyncapi.json', asyncApiDocument(webhooks)]])],
  ]);
  const texts = new Map<string, Map<string, string>>();
  for (const [folder, documents] of folders) texts.set(folder, await textsOf(join(schemasDir, folder), documents));
  return texts;
}

async function textsOf(dir: string, documents: ReadonlyMap<string, object>): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const [file, document] of documents) {
    texts.set(file, await formatted(join(dir, file), JSON.stringify(document)));
  }
  return texts;
}
