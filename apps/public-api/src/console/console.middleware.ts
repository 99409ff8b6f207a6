import { join } from 'node:path';
import express, { type RequestHandler, type Response } from 'express';

/** The pages of the console: each is the same document, which draws the page that the address names. */
const PAGES = /^\/(overview|deliveries|subscriptions|vehicles)?(\/[^/]+)?\/?$/;
const ASSETS = '/assets/';
/** Vite puts a hash of the content into the names of assets. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/**
 * Nothing but the console's own files runs or is loaded, and nothing sends what it shows anywhere else. Event payloads come
 * from others: if one of them got into the page as markup, it could still do nothing.
 */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

/** Serves the built console to browsers. Every other request, and every request while it is not built, goes on. */
export function serveConsole(folder: string): RequestHandler {
  const files = express.static(folder, { index: false, redirect: false, setHeaders });
  return (request, response, next) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') next();
    else if (PAGES.test(request.path) && !request.path.includes('.'))
      response.sendFile(join(folder, 'index.html'), { headers: { ...HEADERS, 'cache-control': 'no-cache' } }, () => {
        if (!response.headersSent) next();
      });
    else files(request, response, next);
  };
}

function setHeaders(response: Response, file: string): void {
  response.set(HEADERS);
  response.set('cache-control', file.includes(ASSETS) ? FOR_EVER : 'no-cache');
}
