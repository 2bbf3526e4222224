import type {
  ListWebhookDeliveriesAnswer,
  ListWebhooksAnswer,
  NewWebhook,
  TestWebhookAnswer,
  Webhook,
} from '@tallystick/sdk';
import type { Command } from 'commander';
import { apiKeyOption, requireKey } from '../api-key.ts';
import { print, printJson, remark, UsageError } from '../output.ts';
import { printable } from '../printable.ts';
import { serviceAt, urlOption } from '../service.ts';

const PATH = '/v1/webhooks';

interface Asked {
  readonly url: string;
  readonly apiKey?: string;
  readonly json?: boolean;
}

/** `tally webhook`: messages of a service to a URL of the caller's. */
export function webhookCommands(program: Command): void {
  const webhook = program
    .command('webhook')
    .summary('have a service tell you what happens to your account')
    .description(
      'Webhooks: signed messages of a service to a URL of yours. docs/webhooks.md names the events and says how to check a message.',
    )
    .addHelpText('after', HELP);

  asking(webhook.command('list').summary('list your webhooks')).action(list);

  asking(
    webhook
      .command('create')
      .summary('make a webhook')
      .description('Makes a webhook. Prints its secret, which is shown this once.')
      .argument('<target>', 'where messages are sent: an https URL')
      .argument('<events...>', 'what it is told of, such as balance.low'),
  ).action(create);

  asking(
    webhook
      .command('update')
      .summary('change a webhook')
      .description('Changes what is given and leaves the rest.')
      .argument('<id>', 'the id of the webhook: wh_…')
      .option('--target <url>', 'where messages are sent')
      .option('--events <events>', 'what it is told of, with commas between')
      .option('--enable', 'send messages again')
      .option('--disable', 'send no messages, and drop what waits'),
  ).action(update);

  asking(
    webhook
      .command('delete')
      .summary('delete a webhook')
      .description('Deletes a webhook with its secret and its deliveries.')
      .argument('<id>', 'the id of the webhook: wh_…'),
  ).action(remove);

  asking(
    webhook
      .command('test')
      .summary('send a test message')
      .description('Has a message of type webhook.test sent within seconds.')
      .argument('<id>', 'the id of the webhook: wh_…'),
  ).action(test);

  asking(
    webhook
      .command('deliveries')
      .summary('list the messages to a webhook')
      .description('Lists the messages of the last 30 days, newest first, and what became of each.')
      .argument('<id>', 'the id of the webhook: wh_…')
      .option('--limit <n>', 'the most messages to list: 1 to 1000')
      .option('--cursor <text>', 'go on after a page: its next_cursor'),
  ).action(deliveries);
}

const HELP = `
Example:
  $ export TALLY_API_KEY=$(cat my-key)
  $ tally webhook create https://example.com/hook balance.low key.revoked
  $ tally webhook test wh_5f0c1b2a9d8e7f6011223344
  $ tally webhook deliveries wh_5f0c1b2a9d8e7f6011223344`;

function asking(command: Command): Command {
  return command.addOption(apiKeyOption()).addOption(urlOption()).option('--json', 'as JSON');
}

const serviceOf = ({ url, apiKey }: Asked) => serviceAt(url, { apiKey: requireKey(apiKey, 'A webhook') });
const pathOf = (id: string): string => `${PATH}/${encodeURIComponent(id)}`;

async function list(options: Asked): Promise<void> {
  const { json } = await serviceOf(options).get<ListWebhooksAnswer>(PATH);
  if (options.json) return printJson(json);
  for (const webhook of json.data) print(lineOf(webhook));
  if (json.data.length === 0) remark('There are no webhooks.');
}

async function create(target: string, events: string[], options: Asked): Promise<void> {
  const { json } = await serviceOf(options).post<NewWebhook>(PATH, { url: target, events });
  if (options.json) return printJson(json);
  print(lineOf(json));
  print(json.secret);
  remark('The second line is the secret. It is shown only once.');
}

interface Update extends Asked {
  readonly target?: string;
  readonly events?: string;
  readonly enable?: boolean;
  readonly disable?: boolean;
}

async function update(id: string, { target, events, enable, disable, ...options }: Update): Promise<void> {
  if (enable && disable) throw new UsageError('Give --enable or --disable, not both.');
  const change = {
    ...(target !== undefined && { url: target }),
    ...(events !== undefined && { events: events.split(',') }),
    ...((enable || disable) && { enabled: enable === true }),
  };
  if (Object.keys(change).length === 0)
    throw new UsageError('Say what to change: --target, --events, --enable or --disable.');
  const { json } = await serviceOf(options).patch<Webhook>(pathOf(id), change);
  if (options.json) printJson(json);
  else print(lineOf(json));
}

async function remove(id: string, options: Asked): Promise<void> {
  await serviceOf(options).delete(pathOf(id));
  if (options.json) printJson({ id, deleted: true });
  else remark(`${id} is deleted.`);
}

async function test(id: string, options: Asked): Promise<void> {
  const { json } = await serviceOf(options).post<TestWebhookAnswer>(`${pathOf(id)}/test`, null);
  if (options.json) return printJson(json);
  print(json.id);
  remark(`What became of it: tally webhook deliveries ${id}`);
}

async function deliveries(
  id: string,
  { limit, cursor, ...options }: Asked & { limit?: string; cursor?: string },
): Promise<void> {
  const query = new URLSearchParams({ ...(limit && { limit }), ...(cursor && { cursor }) }).toString();
  const path = `${pathOf(id)}/deliveries${query === '' ? '' : `?${query}`}`;
  const { json } = await serviceOf(options).get<ListWebhookDeliveriesAnswer>(path);
  if (options.json) return printJson(json);
  for (const { at, id: message, type, state, attempts, status, problem } of json.data) {
    const answer = status === null ? '' : `  ${status}`;
    const why = problem === null ? '' : `  ${printable(problem)}`;
    print(`${at}  ${message}  ${type}  ${state}  ${attempts} attempts${answer}${why}`);
  }
  if (json.data.length === 0) remark('There are no messages.');
  if (json.next_cursor !== null) remark(`There are more: --cursor ${json.next_cursor}`);
}

function lineOf({ id, url, events, enabled, disabled_because: why }: Webhook): string {
  const state = enabled ? 'enabled' : `disabled (${why})`;
  return `${id}  ${state}  ${printable(url)}  ${events.join(',')}`;
}
