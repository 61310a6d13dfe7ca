/** The options that can change while an instance runs. */
import type { HookswitchOptions } from './options.js'

/** Options that `setLimits` changes. The others size connection pools, or shape what is stored. */
export const LIMIT_NAMES = [
  'tokenTtlSeconds',
  'loginBurst',
  'loginRefillPerSecond',
  'replayBurst',
  'replayRefillPerSecond',
  'inFlightPerEndpoint',
  'inFlightPerAccount',
  'maxPending',
  'maxPendingPerAccount',
  'maxPendingPerWebhook',
  'maxEventsPerRequest',
  'maxDeliveriesPerRequest',
  'attemptsPerWebhook',
  'retentionDays',
  'unwantedRetentionSeconds',
] as const satisfies readonly (keyof Limits)[]

/** Limits of a running instance, as in the options of `createHookswitch`. Absent ones stay as they are. */
export type Limits = Pick<
  HookswitchOptions,
  | 'tokenTtlSeconds'
  | 'loginBurst'
  | 'loginRefillPerSecond'
  | 'replayBurst'
  | 'replayRefillPerSecond'
  | 'inFlightPerEndpoint'
  | 'inFlightPerAccount'
  | 'maxPending'
  | 'maxPendingPerAccount'
  | 'maxPendingPerWebhook'
  | 'maxEventsPerRequest'
  | 'maxDeliveriesPerRequest'
  | 'attemptsPerWebhook'
  | 'retentionDays'
  | 'unwantedRetentionSeconds'
>
