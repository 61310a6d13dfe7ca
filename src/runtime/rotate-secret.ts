/**
 * Replaces the service secret of a store: everything that is encrypted with the old one is encrypted with the new one.
 *
 * Order of writes, so that a crash at any point leaves a store that `rotateSecret` with the same secrets completes:
 * 1. The record names both secrets: no node starts that has only one of them.
 * 2. Each row is replaced by itself, if its ciphertexts are still those that were read.
 * 3. After a pass that finds nothing under the old secret, the record names the new one only.
 * 4. A store that keeps the secret itself replaces it.
 */

import type { Store } from 'hookswitch/store'
import { checkOptionNames, errorCode, HookswitchError } from '../errors.js'
import { checkSecret, invalidOption } from '../options/validators.js'
import type { Log } from '../ports.js'
import { checkStore } from '../store/check-store.js'
import type { EncryptedKind, EncryptedRow, EncryptionStore } from '../store/encryption-store.js'
import { createSecretCipher } from '../values/encryption.js'
import { systemClock } from './clock.js'
import { type RotationCiphers, reencryptRow } from './encrypted-rows.js'
import { openRecord } from './encryption-key.js'
import {
  type EncryptionRecord,
  formatRecord,
  parseRecord,
  recordAfterRotation,
  recordOfRotation,
} from './encryption-record.js'
import { systemRandom } from './random.js'
import { safeLog } from './safe-log.js'

const PAGE = 500
/** Rows that are written at once: durable stores commit them together. */
const AT_ONCE = 50
const KINDS: readonly EncryptedKind[] = ['apiKey', 'webhook']
const STORED_SECRET = /^[0-9a-f]{64}$/

/**
 * Replaces the service secret of a store. Safe to repeat after a crash, with the same secrets.
 *
 * A store that several nodes share may be in use: every node must have been started with both secrets, the new one first
 * (`secret: [to, from]`). After it resolves, nodes need only the new one.
 *
 * @throws `InvalidOption` (field `store`, `from` or `to`), `StoreUnavailable`, `StoreCorrupt`
 * @example
 * await rotateSecret({ store: postgresStore({ connectionString }), from: oldSecret, to: newSecret })
 */
export async function rotateSecret(options: {
  /** The store; it must not be open. `rotateSecret` opens and closes it. */
  readonly store: Store
  /** The secret in use. Default: the one that the store keeps. */
  readonly from?: string | undefined
  /** The secret that replaces it: at least 16 characters, for a store that keeps its secret 64 hex digits. */
  readonly to: string
  /** Receives a warning for each row that neither secret decrypts. Default: none. */
  readonly log?: Log | undefined
}): Promise<{
  /** Rows that were encrypted again: API keys and webhooks. */
  readonly rows: number
  /** Rows with a ciphertext that neither secret decrypts. They were of no use before, and stay as they are. */
  readonly unreadable: readonly { readonly kind: 'apiKey' | 'webhook'; readonly id: string }[]
}> {
  checkOptionNames('rotateSecret', options ?? null, ['store', 'from', 'to', 'log'])
  const { store, to } = options
  checkStore(store)
  checkSecret('to', to)
  if (options.from !== undefined) checkSecret('from', options.from)
  if (store.replaceSecret && !STORED_SECRET.test(to)) {
    throw invalidOption('to', 'must be 64 hex digits, because this store can keep its secret in a file')
  }
  const log = safeLog(options.log)
  const random = systemRandom().bytes
  await store.open({ clock: systemClock(), log })
  try {
    const from = options.from ?? (await store.secret?.())
    if (from === undefined) throw invalidOption('from', 'is required: this store keeps no secret')
    // After a crash before its last step the store still keeps the old secret; after the last step, the new one.
    if (from === to && options.from === undefined) return { rows: 0, unreadable: [] }
    if (from === to) throw invalidOption('to', 'must be another secret than from')
    const { encryption } = store
    if ((await encryption?.record()) === undefined) await openWith(store, from, random)
    const ciphers = { from: createSecretCipher([from]), to: createSecretCipher([to]), random }
    await changeRecord(encryption, (record) => recordOfRotation(record, from, to, random))
    const rotated = await reencryptAll(encryption, ciphers)
    for (const { kind, id } of rotated.unreadable) {
      log.warn({ kind, id }, 'neither secret decrypts this row: it stays as it is')
    }
    await changeRecord(encryption, (record) => recordAfterRotation(record, from, to, random))
    await store.replaceSecret?.(to)
    return rotated
  } finally {
    await store.close()
  }
}

/** Writes the first record of a store; errors name `from`. */
async function openWith(store: Store, from: string, random: (count: number) => Uint8Array): Promise<void> {
  await openRecord(store, [from], random).catch((thrown: unknown) => {
    const { message, field } = thrown as HookswitchError
    if (errorCode(thrown) !== 'InvalidOption' || field !== 'secret') throw thrown
    throw new HookswitchError('InvalidOption', message.replace('secret', 'from'), { field: 'from' })
  })
}

async function changeRecord(
  encryption: EncryptionStore,
  change: (record: EncryptionRecord) => EncryptionRecord | undefined,
): Promise<void> {
  for (;;) {
    const text = await encryption.record()
    const next = change(parseRecord(text ?? ''))
    // The comparison fails when a node has changed the record since.
    if (!next || (await encryption.replaceRecord(formatRecord(next), text))) return
  }
}

/** Passes over all rows until one finds nothing to do: nodes write meanwhile. */
async function reencryptAll(encryption: EncryptionStore, ciphers: RotationCiphers) {
  let rows = 0
  for (;;) {
    const unreadable: Pick<EncryptedRow, 'kind' | 'id'>[] = []
    let found = 0
    for (const kind of KINDS) {
      let page: readonly EncryptedRow[] = []
      do {
        page = await encryption.encryptedRows(kind, page.at(-1)?.id, PAGE)
        const pending: { readonly next: EncryptedRow; readonly row: EncryptedRow }[] = []
        for (const row of page) {
          const { next, isUnreadable } = reencryptRow(row, ciphers)
          if (isUnreadable) unreadable.push({ kind, id: row.id })
          if (next) pending.push({ next, row })
        }
        found += pending.length
        for (let index = 0; index < pending.length; index += AT_ONCE) {
          const batch = pending.slice(index, index + AT_ONCE)
          const written = await Promise.all(batch.map(({ next, row }) => encryption.reencrypt(next, row)))
          rows += written.filter(Boolean).length
        }
      } while (page.length > 0)
    }
    if (found === 0) return { rows, unreadable }
  }
}
