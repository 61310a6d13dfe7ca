import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock, memoryStore } from 'hookswitch'

export type AnyStore = ReturnType<typeof memoryStore>

export interface StoreFactory {
  readonly name: string
  /** Creates an empty store; `dispose` releases its resources after it is closed. */
  create(clock: Clock): Promise<{ readonly store: AnyStore; dispose(): Promise<void> }>
}

/** Returns a factory function for a store in one file, in a temporary folder. */
export function inTemporaryFolder(
  open: (path: string) => { store: AnyStore; end?: () => void },
): StoreFactory['create'] {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hookswitch-golden-'))
    const { store, end } = open(join(folder, 'data.db'))
    return {
      store,
      async dispose() {
        end?.()
        rmSync(folder, { recursive: true })
      },
    }
  }
}
