import type { ChangedSchema } from './migration.ts';

/** The secret that a webhook had before, while messages are signed with both. */
export const webhookSecrets: ChangedSchema = {
  name: 'webhook-secrets',
  statements: ({ schema }) => [
    schema.alterTable('webhooks').addColumn('previous_secret', 'text'),
    schema.alterTable('webhooks').addColumn('previous_until', 'bigint'),
  ],
};
