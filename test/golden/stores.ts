/** The stores on which every golden file is played: one of these per store, fresh for each file. */
import { memoryStore } from 'hookswitch'

export type AnyStore = ReturnType<typeof memoryStore>

export interface StoreMaker {
  readonly name: string
  /** An empty store, and what is to be done when it is closed. */
  make(): Promise<{ readonly store: AnyStore; dispose(): Promise<void> }>
}

export const STORES: readonly StoreMaker[] = [
  { name: 'memory', make: async () => ({ store: memoryStore(), dispose: async () => {} }) },
]
