import { statSync } from 'node:fs'
import { join } from 'node:path'
import { sqliteStore } from 'hookswitch/sqlite'
import { describe, expect, it } from 'vitest'
import { vacuum } from '../../../adapters/cli/vacuum.js'
import { openStore, temporaryFolder } from '../storage/sqlite-harness.js'
import { testIo } from './files.js'

describe('hookswitch vacuum', () => {
  it('makes the file smaller beside its store, and prints the sizes', async () => {
    const path = join(temporaryFolder(), 'calls.db')
    const store = await openStore(sqliteStore({ path, inThread: true }))
    for (let index = 0; index < 500; index += 1) {
      const hash = `${index}${'x'.repeat(4_000)}`
      await store.tokens.issue({ hash, accountId: 'a', credentialVersion: 'v', issuedMs: 1, expiresMs: 2 })
    }
    await store.tokens.revokeAll('a')
    const { io, written } = testIo()
    await vacuum(['--data', path], io)
    const { bytesBefore, ...printed } = JSON.parse(written.stdout)
    const bytes = statSync(path).size + statSync(`${path}-wal`).size
    expect(printed).toEqual({ vacuumed: true, path, bytes, freeBytes: 0 })
    expect(bytesBefore - bytes).toBeGreaterThan(2_000_000)
    expect(written.stderr).toMatch(/^hookswitch: .*calls\.db had \d+\.\d MiB and has \d+\.\d MiB\n$/)
  })
})
