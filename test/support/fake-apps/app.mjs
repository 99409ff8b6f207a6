/** Stands for an application in tests of the supervisor: ready at once; ends on SIGTERM or with its parent. */
import { createServer } from 'node:http';

console.log(JSON.stringify({ event: 'fake_app_started', instance: process.env.WAYPOST_INSTANCE_ID }));
createServer((_request, response) => response.end('{}')).listen(Number(process.env.WAYPOST_ADMIN_PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
process.on('disconnect', () => process.exit(0));
