import type { EncryptedRow, EncryptionStore } from '../../../src/store/encryption-store.js'
import { faultsOf, type StoreFault } from './store-fault.js'

const fault = faultsOf('encryption', 'encryption')

/** The row as it is stored. */
async function _currentOf(store: EncryptionStore, { kind, id }: EncryptedRow) {
  const rows = await store.encryptedRows(kind, undefined, 1e9)
  return rows.find((row) => row.id === id)
}

/** Defects of the encryption port. */
export const brokenEncryption: readonly StoreFault[] = [
  fault('the last write of the encryption record wins', (store) => ({
    replaceRecord: async (record) => store.replaceRecord(record, await store.record()),
  })),
  fault('a first encryption record is written without a check', () => {
    let record: string | undefined
    return {
      record: async () => record,
      async replaceRecord(next, expected) {
        const before = record
        await new Promise(setImmediate)
        if (before !== expected) return false
        record = next
        return true
      },
    }
  }),
  fault('a page of encrypted rows exceeds its limit', (store) => ({
    encryptedRows: (kind, after, limit) => store.encryptedRows(kind, after, limit + 1),
  })),
  fault('deleted webhooks keep their ciphertexts unseen', (store, { webhooks }) => ({
    async encryptedRows(kind, after, limit) {
      const rows = await store.encryptedRows(kind, after, limit)
      if (kind === 'apiKey') return rows
      const live = new Set((await webhooks.list(['account'])).map(({ id }) => id))
      return rows.filter(({ id }) => live.has(id))
    },
  })),
  fault('a new ciphertext gives an API key a new version', (store, { accounts }) => ({
    async reencrypt(next, expected) {
      const isWritten = await store.reencrypt(next, expected)
      const row = next.kind === 'apiKey' ? await accounts.apiKey(next.id) : undefined
      if (row) await accounts.putApiKey({ ...row, version: 'another' })
      return isWritten
    },
  })),
  fault('new ciphertexts leave the revision of a webhook as it is', (store, { webhooks }) => {
    const reencrypt: EncryptionStore['reencrypt'] = async (next, expected) => {
      const [before] = (await webhooks.list(['account'])).filter(({ id }) => id === next.id)
      const isWritten = await store.reencrypt(next, expected)
      const [after] = (await webhooks.list(['account'])).filter(({ id }) => id === next.id)
      if (before && after && isWritten)
        await webhooks.replace({ ...after, revision: before.revision }, after.revision)
      return isWritten
    }
    return { reencrypt }
  }),
  fault('concurrent replacements of the same ciphertexts all succeed', (store) => ({
    async reencrypt(next, expected) {
      await store.reencrypt(next, expected)
      return true
    },
  })),
  fault('candidates keep the ciphertexts that they had', (_store, { webhooks }) => {
    const candidates = webhooks.candidates
    let first: ReturnType<typeof candidates> | undefined
    Object.assign(webhooks, {
      candidates: (...args: Parameters<typeof candidates>) => {
        first ??= candidates(...args)
        return first
      },
    })
    return {}
  }),
]
