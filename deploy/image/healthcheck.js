// Ends with 0 when the service in this container answers /healthz, and with 1 otherwise.
import { get } from 'node:http';

const { PORT = '8787' } = process.env;
get({ host: '127.0.0.1', port: PORT, path: '/healthz', timeout: 5_000 }, ({ statusCode }) => {
  process.exit(statusCode === 200 ? 0 : 1);
})
  .on('timeout', () => process.exit(1))
  .on('error', () => process.exit(1));
