/** Programs that run in the page, as text: they must not depend on this side. */

/** Notes when the overview first shows its figures, in ms since the navigation began. */
export const NOTE_FIRST_VIEW = `
  new MutationObserver((_, observer) => {
    if (!document.querySelector('.figures:not(.loading) canvas')) return;
    window.firstViewMs = performance.now();
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true, attributes: true });
`;

/** In place of the stream of attempts: so many events per second, in pieces as they would arrive. */
export function fastStream(perSecond: number): string {
  return `(() => {
    const send = window.fetch;
    window.fetch = (input, init) => {
      const url = String(input instanceof Request ? input.url : input);
      if (!url.includes('/public/v2/stream')) return send(input, init);
      let count = 0;
      let timer;
      const startedAtMs = performance.now();
      const encoder = new TextEncoder();
      const body = new ReadableStream({
        start(controller) {
          timer = setInterval(() => {
            const due = Math.floor(((performance.now() - startedAtMs) / 1000) * ${String(perSecond)});
            let text = '';
            for (; count < due; count++) {
              const now = new Date().toISOString();
              const id = String(count).padStart(12, '0');
              text += 'id: ' + id + '\\nevent: attempt\\ndata: ' + JSON.stringify({
                eventId: '00000000-0000-4000-8000-' + id, eventType: 'position', eventTime: now,
                deviceId: 'van-' + (count % 100), subscriptionId: '00000000-0000-4000-8000-000000000000', series: 0,
                attempt: 1, startedAt: now, durationMs: 12, statusCode: 200, status: 'delivered',
              }) + '\\n\\n';
            }
            if (text !== '') controller.enqueue(encoder.encode(text));
          }, 10);
        },
        cancel() { clearInterval(timer); },
      });
      return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
    };
  })()`;
}

/** Milliseconds from a change of the status filter to the first frame that shows other rows. */
export function filterMs(status: string): string {
  return `new Promise((resolve) => {
    const select = [...document.querySelectorAll('label')].find((one) => one.textContent.startsWith('Status') &&
      one.querySelector('select'))?.querySelector('select');
    const isShown = () => {
      const badges = [...document.querySelectorAll('[data-row] .badge')];
      return badges.length > 0 && badges.every((badge) => badge.classList.contains(${JSON.stringify(status)}));
    };
    const startedAtMs = performance.now();
    const set = Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set;
    set.call(select, ${JSON.stringify(status)});
    select.dispatchEvent(new Event('change', { bubbles: true }));
    const look = () => (isShown() ? resolve(performance.now() - startedAtMs) : requestAnimationFrame(look));
    requestAnimationFrame(look);
  })`;
}

/** The intervals of frames for so long, in ms; scrolling by so much with each. */
export function frameIntervals(seconds: number, scrollPx: number): string {
  return `new Promise((resolve) => {
    const intervals = [];
    let before = performance.now();
    const endMs = before + ${String(seconds * 1_000)};
    const frame = (now) => {
      intervals.push(now - before);
      before = now;
      if (${String(scrollPx)} > 0) scrollBy(0, ${String(scrollPx)});
      if (now < endMs) requestAnimationFrame(frame);
      else resolve(intervals.slice(1));
    };
    requestAnimationFrame(frame);
  })`;
}
