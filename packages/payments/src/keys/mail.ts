import type { MailConfig } from '../settings.ts';

/** A letter in plain text. */
interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** A letter that is sent again has the same id, so that mailboxes can recognise it. */
  readonly id: string;
}

/** Sends a letter. Resolves once the mail server has accepted it. @throws Error where it has not */
export type SendLetter = (letter: Letter) => Promise<void>;

const CONNECT_MS = 10_000;
const IDLE_MS = 20_000;

/** Makes the function that sends letters. The SMTP client is loaded with the first one. */
export function createMailer({ url, from, requireTls }: MailConfig): SendLetter {
  return async ({ to, subject, text, id }) => {
    const { createTransport } = await import('nodemailer');
    const target = new URL(url);
    const transport = createTransport({
      host: target.hostname.replace(/^\[|\]$/g, ''),
      port: target.port === '' ? (target.protocol === 'smtps:' ? 465 : 587) : Number(target.port),
      secure: target.protocol === 'smtps:',
      requireTLS: requireTls && target.protocol === 'smtp:',
      ...(target.username !== '' && {
        auth: { user: decodeURIComponent(target.username), pass: decodeURIComponent(target.password) },
      }),
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: IDLE_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      const domain = from.slice(from.lastIndexOf('@') + 1);
      await transport.sendMail({
        from,
        // Given as an object, it is one address, whatever it contains.
        to: { name: '', address: to },
        subject,
        text,
        messageId: `<${id}@${domain}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
    } finally {
      transport.close();
    }
  };
}
