/** Turns a client's webhook settings into what may be stored: validated, with every secret encrypted. */
import { invalidInput } from '../errors.js'
import type { Random } from '../ports.js'
import { findJsonProblem } from '../values/canonical-json.js'
import type { SecretCipher } from '../values/encryption.js'
import { checkSettings, type SettingsRules } from './settings.js'
import { formatSigningSecret } from './signing-secret.js'
import { encryptionPurpose, type UncheckedWebhook } from './view.js'
import type { EncryptedSecret, EncryptedSettings } from './webhook.js'

/** Dependencies that validate settings and encrypt their secrets. */
export interface EncryptSettingsDeps {
  readonly random: Random
  readonly cipher: SecretCipher
  readonly rules: SettingsRules
}

/** Maximum size of the client's unknown keys as JSON, in bytes. @internal */
export const MAX_EXTRA_BYTES = 65_536
const MAX_EXTRA_DEPTH = 32
const KEY_BYTES = 32
const NONCE_BYTES = 12

function assertValidExtra(extra: Readonly<Record<string, unknown>>): void {
  const found = findJsonProblem(extra, MAX_EXTRA_DEPTH)
  if (found) throw invalidInput([{ path: found.path, rule: 'error', message: found.problem }])
  if (Buffer.byteLength(JSON.stringify(extra)) > MAX_EXTRA_BYTES) {
    const message = `fields other than those of a webhook must not exceed ${MAX_EXTRA_BYTES} bytes in total`
    throw invalidInput([{ path: '', rule: 'maxSize', message, target: MAX_EXTRA_BYTES }])
  }
}

/**
 * Validates settings and encrypts their custom request headers.
 *
 * @throws `InvalidInput` with every violated rule
 */
export function encryptSettings(
  deps: EncryptSettingsDeps,
  webhookId: string,
  input: UncheckedWebhook,
): EncryptedSettings {
  const checked = checkSettings(input.settings, deps.rules)
  if ('failures' in checked) throw invalidInput(checked.failures)
  const extra = input.extra ?? {}
  assertValidExtra(extra)
  const { customRequestHeaders, ...settings } = checked.settings
  const sealedHeaders =
    customRequestHeaders === undefined
      ? undefined
      : deps.cipher.encrypt(
          JSON.stringify(customRequestHeaders),
          encryptionPurpose.headers(webhookId),
          deps.random.bytes(NONCE_BYTES),
        )
  return {
    settings,
    ...(sealedHeaders !== undefined && { sealedHeaders }),
    ...(Object.keys(extra).length > 0 && { extra }),
  }
}

/** Generates a signing secret; returns it in clear and in its stored form. */
export function createSigningSecret(
  deps: Pick<EncryptSettingsDeps, 'random' | 'cipher'>,
  webhookId: string,
): { readonly text: string; readonly secret: EncryptedSecret } {
  const text = formatSigningSecret(deps.random.bytes(KEY_BYTES))
  const sealed = deps.cipher.encrypt(
    text,
    encryptionPurpose.secret(webhookId),
    deps.random.bytes(NONCE_BYTES),
  )
  return { text, secret: { sealed } }
}
