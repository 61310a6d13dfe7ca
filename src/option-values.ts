import type { DeliveryEvents } from './delivery/delivery-events.js'
import { checkEvent } from './delivery/event.js'
import { checkPolicy, POLICY_PRESETS, type PolicyFunction, type RetryPolicy } from './delivery/policy.js'
import { HookswitchError } from './errors.js'
import { invalid } from './option-checks.js'
import { type CompiledPolicy, compilePolicy } from './values/address-policy.js'
import { type CatalogueEntry, type CustomHook, catalogueOf } from './webhooks/catalogue.js'

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
