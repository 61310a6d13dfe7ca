import type { EncryptedRow, EncryptionStore } from '../../src/store/encryption-store.js'
import { type Fault, faultsOf } from './broken-store.js'

const fault = faultsOf('encryption', 'encryption')

/** The row as it is stored. */
async function currentOf(store: EncryptionStore, { kind, id }: EncryptedRow) {
  const rows = await store.encryptedRows(kind, undefined, 1e9)
  return rows.find((row) => row.id === id)
}

/** Defects of the encryption port. */
export const brokenEncryption: readonly Fault[] = [
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
  fault('the encryption record is cut', (store) => ({
    replaceRecord: (record, expected) => store.replaceRecord(record.slice(0, 8_000), expected),
  })),
  fault('a page of encrypted rows begins with the last row of the previous page', (store) => ({
    async encryptedRows(kind, after, limit) {
      const all = await store.encryptedRows(kind, undefined, 1e9)
      const from = all.findIndex(({ id }) => id === after)
      return all.slice(Math.max(0, from), Math.max(0, from) + limit)
    },
  })),
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
  fault('only signing secrets are listed', (store) => ({
    async encryptedRows(kind, after, limit) {
      const rows = await store.encryptedRows(kind, after, limit)
      return rows.map(({ headers: _, ...row }) => row)
    },
  })),
  fault('a webhook lists its current secret only', (store) => ({
    async encryptedRows(kind, after, limit) {
      const rows = await store.encryptedRows(kind, after, limit)
      return rows.map((row) => ({ ...row, secrets: row.secrets.slice(0, 1) }))
    },
  })),
  fault('ciphertexts that have changed are replaced', (store) => ({
    reencrypt: async (next, expected) =>
      store.reencrypt(next, (await currentOf(store, expected)) ?? expected),
  })),
  fault('custom headers are not compared before ciphertexts are replaced', (store) => ({
    async reencrypt(next, { headers: _, ...expected }) {
      const current = await currentOf(store, expected)
      return store.reencrypt(next, { ...expected, ...(current?.headers && { headers: current.headers }) })
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
