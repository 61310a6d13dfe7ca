/** Items of the live stream of an account, in batches. The stream closes when the tab has been hidden for 30 s. */
import { type Signal, useSignal } from '@preact/signals'
import type { StreamParameters } from 'hookswitch/client'
import { useEffect, useRef } from 'preact/hooks'
import { call } from '../api/api.js'
import { itemOf, type LiveItem, MAX_ITEMS } from '../text/live-items.js'
import { isVisible } from './clock.js'
import { session } from './session.js'

const CLOSE_WHEN_HIDDEN_MS = 30_000

/** A batch waits this long for each item of the one before: more than 50 a second nobody reads, but each batch is drawn. */
const WAIT_PER_ITEM_MS = 20
const MAX_BATCH_MS = 500

interface StreamItemsOptions {
  readonly accountId: string
  readonly filters?: Pick<StreamParameters, 'webhookId' | 'result'>
  /** Items that arrive within this time come together; while many arrive, those of half a second. */
  readonly batchMs: number
}

type StreamState = 'connecting' | 'open' | 'waiting' | 'refused'

/** @param onItems gets the items in the order of the stream, some of them perhaps twice */
export function useStreamItems(
  { accountId, filters, batchMs }: StreamItemsOptions,
  onItems: (items: readonly LiveItem[]) => void,
): Signal<StreamState> {
  const state = useSignal<StreamState>('connecting')
  const isHidden = useHidden()
  const pending = useRef<LiveItem[]>([])
  const latest = useRef(onItems)
  latest.current = onItems
  const current = session.value

  useEffect(() => {
    if (!current || isHidden) return
    pending.current = []
    const controller = new AbortController()
    const onState = (next: StreamState) => {
      state.value = next
    }
    onState('connecting')
    call(async (client) => {
      const stream = client.stream({ accountId, ...filters }, { signal: controller.signal, onState })
      for await (const received of stream) {
        const item = itemOf(received, Date.now())
        if (!item) continue
        pending.current.push(item)
        // A browser that lets the timers of a hidden tab rest.
        if (pending.current.length > 2 * MAX_ITEMS) pending.current = pending.current.slice(-MAX_ITEMS)
      }
    }).catch(() => onState('refused'))
    let timer: ReturnType<typeof setTimeout>
    const show = () => {
      const items = pending.current
      pending.current = []
      timer = setTimeout(show, Math.max(batchMs, Math.min(items.length * WAIT_PER_ITEM_MS, MAX_BATCH_MS)))
      if (items.length > 0) latest.current(items)
    }
    show()
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [accountId, current?.token, isHidden, JSON.stringify(filters)])
  return state
}

/** Whether the tab has been hidden for a while. */
function useHidden(): boolean {
  const isHidden = useSignal(false)
  const visible = isVisible.value
  useEffect(() => {
    if (visible) {
      isHidden.value = false
      return
    }
    const timer = setTimeout(() => {
      isHidden.value = true
    }, CLOSE_WHEN_HIDDEN_MS)
    return () => clearTimeout(timer)
  }, [visible])
  return isHidden.value
}
