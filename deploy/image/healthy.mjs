/** The health check of the image: 0 while the application of this container is ready. */
const port = process.env.WAYPOST_ADMIN_PORT;
const isReady = await fetch(`http://127.0.0.1:${port}/health/ready`).then(
  ({ ok }) => ok,
  () => false,
);
process.exit(isReady ? 0 : 1);
