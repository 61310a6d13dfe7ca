import { invalidInput } from '../errors.js'
import type { Random } from '../ports.js'
import { jsonProblem } from '../values/canonical-json.js'
import type { SecretBox } from '../values/seal.js'
import { checkSettings, type SettingsRules } from './settings.js'
import { secretText } from './signing-secret.js'
import { sealPurpose, type WebhookInput } from './view.js'
import type { SealedSecret, SealedSettings } from './webhook.js'

/** What it takes to make of a client's words what may be written: nothing secret in clear. */
export interface SealDoors {
  readonly random: Random
  readonly box: SecretBox
  readonly rules: SettingsRules
}

/** Most bytes of the keys that are not ours. */
export const MAX_EXTRA_BYTES = 65_536
const MAX_EXTRA_DEPTH = 32
const KEY_BYTES = 32
const NONCE_BYTES = 12

function checkExtra(extra: Readonly<Record<string, unknown>>): void {
  const found = jsonProblem(extra, MAX_EXTRA_DEPTH)
  if (found) throw invalidInput([{ path: found.path, rule: 'error', message: found.problem }])
  if (Buffer.byteLength(JSON.stringify(extra)) > MAX_EXTRA_BYTES) {
    const message = `fields beyond those of a webhook may have at most ${MAX_EXTRA_BYTES} bytes in all`
    throw invalidInput([{ path: '', rule: 'maxSize', message, target: MAX_EXTRA_BYTES }])
  }
}

/**
 * Checked settings, their headers encrypted: what may be written.
 *
 * @throws `InvalidInput` with every broken rule
 */
export function sealSettings(doors: SealDoors, webhookId: string, input: WebhookInput): SealedSettings {
  const checked = checkSettings(input.settings, doors.rules)
  if ('failures' in checked) throw invalidInput(checked.failures)
  const extra = input.extra ?? {}
  checkExtra(extra)
  const { customRequestHeaders, ...settings } = checked.settings
  const sealedHeaders =
    customRequestHeaders === undefined
      ? undefined
      : doors.box.seal(
          JSON.stringify(customRequestHeaders),
          sealPurpose.headers(webhookId),
          doors.random.bytes(NONCE_BYTES),
        )
  return {
    settings,
    ...(sealedHeaders !== undefined && { sealedHeaders }),
    ...(Object.keys(extra).length > 0 && { extra }),
  }
}

/** A new signing secret, in clear and as it is kept. */
export function makeSecret(
  doors: Pick<SealDoors, 'random' | 'box'>,
  webhookId: string,
): { readonly text: string; readonly secret: SealedSecret } {
  const text = secretText(doors.random.bytes(KEY_BYTES))
  const sealed = doors.box.seal(text, sealPurpose.secret(webhookId), doors.random.bytes(NONCE_BYTES))
  return { text, secret: { sealed } }
}
