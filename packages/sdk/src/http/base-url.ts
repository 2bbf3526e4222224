import { TallyError } from '@tallystick/core';

/**
 * A service's URL in the form to which paths are appended: scheme, host, port and perhaps a path, no trailing slash.
 * @throws invalid_field
 */
export function baseUrlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw invalid(`“${text}” is not the URL of a service, such as https://receipts.example.com.`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw invalid('The URL of a service has no credentials, query or fragment.');
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

function invalid(message: string): TallyError {
  return new TallyError('invalid_field', message, { field: 'baseUrl' });
}
