import { z } from 'zod';

const share = z.number().min(0).max(1);
const experimentName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,31}$/, 'Not a name of small letters, digits, - and _');

/** What the operator tries out on routes. All of it is off unless it is given. */
export const experimentsSchema = z.strictObject({
  /** Gives a share of the `auto` calls another weight of quality against cost. */
  compare: z
    .strictObject({
      name: experimentName,
      share,
      cost_quality: z.number().min(0).max(10),
    })
    .optional(),
  /** Ids of API keys and DIDs whose own ratings steer their `auto` calls; `*` for all. */
  bandit: z.array(z.string().min(1).max(256)).max(10_000).optional(),
  /** Sends a share of the `auto` calls to another model as well, after their answer. The API key of this id pays. */
  shadow: z
    .strictObject({
      name: experimentName,
      share,
      model: z.string().min(1).max(200),
      key: z.string().min(1).max(64),
    })
    .optional(),
});

/** How the calls of one API key take part in what the operator tries out. */
export const keyExperimentsSchema = z.strictObject({
  /** Share of them that is in arm `b` of the comparison, instead of that of the others; at 0 they are in none. */
  compare: share.optional(),
  /** Whether the key's own ratings steer them, whatever the operator's list says. */
  bandit: z.boolean().optional(),
  /** Share of them that is sent to the operator's shadow model too, instead of that of the others. */
  shadow: share.optional(),
});

export type KeyExperiments = z.infer<typeof keyExperimentsSchema>;

export type Experiments = z.infer<typeof experimentsSchema>;
