/** Resolves options that are named presets, partial rules or lists into complete plain data. */
import { delayWithoutJitter } from '../delivery/backoff.js'
import type { DeliveryEvents } from '../delivery/delivery-events.js'
import { checkEvent, customKindsOf } from '../delivery/event.js'
import { checkPolicy, POLICY_PRESETS, type PolicyFunction, type RetryPolicy } from '../delivery/policy.js'
import { HookswitchError, unknownOption } from '../errors.js'
import { type CompiledAddressPolicy, compileAddressPolicy } from '../values/address-policy.js'
import { type CatalogueEntry, type CustomHook, catalogueOf } from '../webhooks/catalogue.js'
import { type AutoDisableRule, HEALTH_PRESETS, type HealthRules } from '../webhooks/health.js'
import { SETTINGS_DEFAULTS } from '../webhooks/settings.js'
import type { HookswitchOptions } from './options.js'
import { invalidOption, wholeNumber } from './validators.js'

/** The retry policy: the given one, the named one, or that of the preset. Throws `InvalidOption`. */
function resolveRetryPolicy(options: {
  readonly retryPolicy?: RetryPolicy | keyof typeof POLICY_PRESETS
  readonly preset?: 'kazoo'
  readonly policies?: Readonly<Record<string, PolicyFunction>>
}): RetryPolicy {
  const selected = options.retryPolicy ?? (options.preset === 'kazoo' ? 'kazoo' : 'standard')
  const policy = typeof selected === 'string' ? POLICY_PRESETS[selected] : selected
  const names = Object.keys(POLICY_PRESETS).join(', ')
  if (typeof policy !== 'object' || policy === null)
    throw invalidOption('retryPolicy', `must be a policy or one of: ${names}`)
  try {
    checkPolicy(policy)
  } catch (thrown) {
    throw new HookswitchError('InvalidOption', (thrown as Error).message, { field: 'retryPolicy' })
  }
  if (policy.kind === 'custom' && !Object.hasOwn(options.policies ?? {}, policy.name)) {
    throw invalidOption('retryPolicy', `names '${policy.name}', which the option policies does not define`)
  }
  return policy
}

const DAY_SECONDS = 86_400

/** The retry policy, with the retries and the maximum age of webhooks that set none. Throws `InvalidOption`. */
export function resolveRetries(
  options: Parameters<typeof resolveRetryPolicy>[0] & {
    readonly defaultRetries?: number
    readonly defaultMaxAgeSeconds?: number
  },
): {
  readonly retryPolicy: RetryPolicy
  readonly defaultRetries: number
  readonly defaultMaxAgeSeconds: number
} {
  const retryPolicy = resolveRetryPolicy(options)
  const { patient, kazoo } = POLICY_PRESETS
  const [retries, maxAgeSeconds] =
    retryPolicy === patient
      ? [patient.delaysMs.length, 4 * DAY_SECONDS]
      : [retryPolicy === kazoo ? 2 : SETTINGS_DEFAULTS.retries, DAY_SECONDS]
  const { defaultRetries = retries, defaultMaxAgeSeconds = maxAgeSeconds } = options
  if (defaultRetries > Number(retryPolicy.retriesCountTries) && retryPolicy.kind !== 'custom') {
    const firstDelaySeconds = delayWithoutJitter(retryPolicy, 1) / 1_000
    if (firstDelaySeconds >= defaultMaxAgeSeconds) {
      const message = `must be longer than the first delay of retryPolicy (${firstDelaySeconds} s), or defaultRetries 0`
      throw invalidOption('defaultMaxAgeSeconds', message)
    }
  }
  return { retryPolicy, defaultRetries, defaultMaxAgeSeconds }
}

/** Events of `hs.events` that are not kinds of call events. A custom hook must not have such an id. */
export const RESERVED_EVENT_NAMES: Readonly<Record<keyof DeliveryEvents | 'event' | 'audit', true>> = {
  audit: true,
  event: true,
  event_refused: true,
  attempt: true,
  webhook_paused: true,
  webhook_resumed: true,
  webhook_failing: true,
  webhook_backlog_full: true,
  webhook_disabled: true,
  delivered: true,
  exhausted: true,
  expired: true,
  cancelled: true,
  quarantined: true,
}

/** The built-in hooks and the host's. Samples must be valid events, because tests of webhooks send them. */
export function resolveCatalogue(hooks: readonly CustomHook[] | undefined): readonly CatalogueEntry[] {
  const catalogue = catalogueOf(hooks)
  // Schemas are applied by `start`, which may have to load them.
  const kinds = customKindsOf(catalogue, new Map())
  const builtIn = catalogue.length - (hooks?.length ?? 0)
  catalogue.slice(builtIn).forEach(({ id, sample }, index) => {
    if (Object.hasOwn(RESERVED_EVENT_NAMES, id)) {
      throw invalidOption(`hooks[${index}].id`, `must not be '${id}', which is an event of hs.events`)
    }
    for (const event of sample) {
      try {
        checkEvent(event, 0, () => true, [], kinds)
      } catch (thrown) {
        throw invalidOption(`hooks[${index}].sample`, `is not a valid event: ${(thrown as Error).message}`)
      }
    }
  })
  return catalogue
}

/** The addresses that requests may go to. Throws `InvalidOption`. */
export function resolveAddressPolicy(allowLocal: boolean, allow: readonly string[]): CompiledAddressPolicy {
  try {
    return compileAddressPolicy({ allowLocal, allow })
  } catch (thrown) {
    throw new HookswitchError('InvalidOption', (thrown as Error).message, { field: 'allow' })
  }
}

const MS_PER_YEAR = 31_536_000_000

/** Validates the numbers of a rule; rejects other keys. Throws `InvalidOption`. */
function validateNumbers(
  field: string,
  rule: object,
  ranges: Readonly<Record<string, readonly [min: number, max: number]>>,
) {
  for (const [key, value] of Object.entries(rule)) {
    if (value === undefined) continue
    const range = Object.hasOwn(ranges, key) ? ranges[key] : undefined
    if (!range) throw unknownOption('createHookswitch', key, Object.keys(ranges), field)
    wholeNumber(...range)(`${field}.${key}`, value)
  }
}

/** The health rules: those of the preset, overridden by the options. Throws `InvalidOption`. */
export function resolveHealthRules(
  options: Pick<HookswitchOptions, 'preset' | 'pauses' | 'autoDisable'>,
): HealthRules {
  const preset: HealthRules = HEALTH_PRESETS[options.preset ?? 'standard']
  return {
    pauses: options.pauses ?? preset.pauses,
    autoDisable:
      options.autoDisable === undefined ? preset.autoDisable : resolveAutoDisable(options.autoDisable),
  }
}

function resolveAutoDisable(option: unknown): HealthRules['autoDisable'] {
  if (option === false) return null
  const { kind, ...numbers } = (isObject(option) ? option : {}) as AutoDisableRule
  const ranges =
    kind === 'silent'
      ? ({ afterMs: [0, MS_PER_YEAR], exhausted: [0, 1_000_000] } as const)
      : ({ failures: [1, 1_000_000], withinMs: [1, MS_PER_YEAR] } as const)
  if (kind !== 'silent' && kind !== 'burst') {
    throw invalidOption('autoDisable', "must be false or an object whose kind is 'silent' or 'burst'")
  }
  validateNumbers('autoDisable', numbers, ranges)
  const missing = Object.keys(ranges).find((key) => numbers[key as keyof typeof numbers] === undefined)
  if (missing !== undefined) throw invalidOption(`autoDisable.${missing}`, 'is required')
  return { ...(option as AutoDisableRule) }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
