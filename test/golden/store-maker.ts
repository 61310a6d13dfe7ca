import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock, memoryStore } from 'hookswitch'

export type AnyStore = ReturnType<typeof memoryStore>

export interface StoreMaker {
  readonly name: string
  /** An empty store, and what is to be done when it is closed. */
  make(clock: Clock): Promise<{ readonly store: AnyStore; dispose(): Promise<void> }>
}

/** For a store of one file. */
export function inFolder(open: (path: string) => { store: AnyStore; end?: () => void }): StoreMaker['make'] {
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
