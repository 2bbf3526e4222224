import type { JSX } from 'preact';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Snippet } from '../../components/snippet.tsx';
import type { NewWebhook } from './documents.ts';

const LINES = `import { Webhook } from 'standardwebhooks';

const message = new Webhook(process.env.WEBHOOK_SECRET).verify(rawBody, headers);`;

/** The secret of a webhook, this once, and how its messages are checked. */
export function Secret({
  of: webhook,
  title,
  close,
}: {
  readonly of: NewWebhook;
  readonly title: string;
  readonly close: () => void;
}): JSX.Element {
  return (
    <Dialog title={title} close={close} wide onlyByButton>
      <p>Copy its secret now. It is shown this once, and nobody can read it from the service again.</p>
      <p class="secret">
        <code>{webhook.secret}</code>
        <CopyButton text={webhook.secret} what="secret" />
      </p>
      <p class="fine">
        Messages are signed with it as <a href="https://www.standardwebhooks.com/">Standard Webhooks</a> says,
        so its libraries check them:
      </p>
      <Snippet what="The code" text={LINES} />
      <div class="choices end">
        <button type="button" class="primary" onClick={close}>
          I have copied it
        </button>
      </div>
    </Dialog>
  );
}
