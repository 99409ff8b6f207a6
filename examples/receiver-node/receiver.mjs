// Verifies and prints webhooks: SECRET=whsec_... PORT=9000 node receiver.mjs
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.SECRET);
const handled = new Set();

createServer(async (request, response) => {
  let event;
  try {
    // Fails when the connection breaks on the way: that must not end the process.
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    // Over the bytes as they came: JSON that was parsed and written again has another signature.
    event = webhook.verify(Buffer.concat(chunks), request.headers);
  } catch (error) {
    console.log('refused', error.message);
    response.writeHead(401).end();
    return;
  }
  // The names after ?? are those of the format legacy-v1.
  const id = event.eventId ?? event.event_id;
  // The same event may come again, under the same id. Remember ids where they outlive the process.
  if (!handled.has(id)) {
    handled.add(id);
    const time = event.eventTime ?? new Date(event.timestamp).toISOString();
    console.log(event.eventType ?? event.event, time, event.eventData?.deviceId ?? event.device_id, id);
  }
  // Types that you do not expect get a 2xx too.
  response.writeHead(204).end();
}).listen(Number(process.env.PORT ?? 9000), '127.0.0.1', () => console.log('listening'));
