import type { DeliveryEvents } from './delivery/delivery-events.js'
import { checkEvent } from './delivery/event.js'
import { checkPolicy, POLICY_PRESETS, type PolicyFunction, type RetryPolicy } from './delivery/policy.js'
import { HookswitchError } from './errors.js'
import { invalid, whole } from './option-checks.js'
import type { HookswitchOptions } from './options.js'
import { type CompiledPolicy, compilePolicy } from './values/address-policy.js'
import { type CatalogueEntry, type CustomHook, catalogueOf } from './webhooks/catalogue.js'
import { type AutoDisableRule, HEALTH_PRESETS, type HealthRules } from './webhooks/health.js'

/** The retry policy that is meant: by name, by the preset, or itself. Throws `InvalidOption`. */
export function policyOf(options: {
  readonly retryPolicy?: RetryPolicy | keyof typeof POLICY_PRESETS
  readonly preset?: 'kazoo'
  readonly policies?: Readonly<Record<string, PolicyFunction>>
}): RetryPolicy {
  const wanted = options.retryPolicy ?? (options.preset === 'kazoo' ? 'kazoo' : 'telephony')
  const policy = typeof wanted === 'string' ? POLICY_PRESETS[wanted] : wanted
  const known = Object.keys(POLICY_PRESETS).join(', ')
  if (typeof policy !== 'object' || policy === null)
    throw invalid('retryPolicy', `must be a policy or one of: ${known}`)
  try {
    checkPolicy(policy)
  } catch (thrown) {
    throw new HookswitchError('InvalidOption', (thrown as Error).message, { field: 'retryPolicy' })
  }
  if (policy.kind === 'custom' && !Object.hasOwn(options.policies ?? {}, policy.name)) {
    throw invalid('retryPolicy', `names '${policy.name}', which the option policies lacks`)
  }
  return policy
}

/** What `hs.events` tells besides kinds of events: a kind of this name would be heard by who listens for that. */
const TAKEN: Readonly<Record<keyof DeliveryEvents | 'event', true>> = {
  event: true,
  attempt: true,
  webhook_disabled: true,
  delivered: true,
  exhausted: true,
  expired: true,
  cancelled: true,
  quarantined: true,
}

/** A sample is sent by the test of a webhook, so it must be an event that could be published. */
export function checkedCatalogue(hooks: readonly CustomHook[] | undefined): readonly CatalogueEntry[] {
  const catalogue = catalogueOf(hooks)
  const builtIn = catalogue.length - (hooks?.length ?? 0)
  catalogue.slice(builtIn).forEach(({ id, sample }, index) => {
    if (Object.hasOwn(TAKEN, id)) {
      throw invalid(`hooks[${index}].id`, `must not be '${id}', which is an event of hs.events already`)
    }
    for (const event of sample) {
      try {
        checkEvent(event, 0, () => true)
      } catch (thrown) {
        throw invalid(
          `hooks[${index}].sample`,
          `is no event that could be published: ${(thrown as Error).message}`,
        )
      }
    }
  })
  return catalogue
}

/** Which addresses may be called. Throws `InvalidOption`. */
export function addressPolicyOf(allowLocal: boolean, allow: readonly string[]): CompiledPolicy {
  try {
    return compilePolicy({ allowLocal, allow })
  } catch (thrown) {
    throw new HookswitchError('InvalidOption', (thrown as Error).message, { field: 'allow' })
  }
}

const DAYS_OF_YEAR_MS = 31_536_000_000

/** The numbers of a rule, each in its range; other keys are refused. Throws `InvalidOption`. */
function checkNumbers(
  field: string,
  rule: object,
  ranges: Readonly<Record<string, readonly [least: number, most: number]>>,
) {
  for (const [key, value] of Object.entries(rule)) {
    if (value === undefined) continue
    const range = Object.hasOwn(ranges, key) ? ranges[key] : undefined
    if (!range) throw invalid(`${field}.${key}`, 'is not an option')
    whole(...range)(`${field}.${key}`, value)
  }
}

/** The health rules that are meant. Throws `InvalidOption`. */
export function healthRulesOf(
  options: Pick<HookswitchOptions<unknown>, 'preset' | 'breaker' | 'autoDisable'>,
): HealthRules {
  const preset: HealthRules = HEALTH_PRESETS[options.preset ?? 'standard']
  return {
    breaker: options.breaker === undefined ? preset.breaker : breakerOf(options.breaker),
    autoDisable: options.autoDisable === undefined ? preset.autoDisable : autoDisableOf(options.autoDisable),
  }
}

function breakerOf(given: unknown): HealthRules['breaker'] {
  if (given === false) return null
  if (!isObject(given)) throw invalid('breaker', 'must be an object or false')
  checkNumbers('breaker', given, {
    failures: [1, 1_000_000],
    pauseMs: [1, DAYS_OF_YEAR_MS],
    capMs: [1, DAYS_OF_YEAR_MS],
  })
  const rule = { ...HEALTH_PRESETS.standard.breaker, ...defined(given) }
  if (rule.capMs < rule.pauseMs) throw invalid('breaker.capMs', 'must not be below breaker.pauseMs')
  return rule
}

function autoDisableOf(given: unknown): HealthRules['autoDisable'] {
  if (given === false) return null
  const { kind, ...numbers } = (isObject(given) ? given : {}) as AutoDisableRule
  const ranges =
    kind === 'silent'
      ? ({ afterMs: [0, DAYS_OF_YEAR_MS], exhausted: [0, 1_000_000] } as const)
      : ({ failures: [1, 1_000_000], withinMs: [1, DAYS_OF_YEAR_MS] } as const)
  if (kind !== 'silent' && kind !== 'burst') {
    throw invalid('autoDisable', "must be false or an object whose kind is 'silent' or 'burst'")
  }
  checkNumbers('autoDisable', numbers, ranges)
  const lacking = Object.keys(ranges).find((key) => numbers[key as keyof typeof numbers] === undefined)
  if (lacking !== undefined) throw invalid(`autoDisable.${lacking}`, 'is required')
  return { ...(given as AutoDisableRule) }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function defined(given: object): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
