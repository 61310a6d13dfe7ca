/** Replays one delivery, or all of a time range that failed: the count is shown first. */
import { useSignal } from '@preact/signals'
import { accountRequest } from '../api/api.js'
import { hasFeature } from '../api/features.js'
import { Dialog } from '../components/dialog.js'
import { ActionButton } from '../components/load-state.js'
import { useAction } from '../state/action.js'
import { notify } from '../state/announce.js'
import { zone } from '../state/preferences.js'
import { navigate } from '../state/router.js'
import { number, t } from '../state/translate.js'
import { toGregorian } from '../text/gregorian-time.js'
import { exactTime, parseInputTime } from '../text/times.js'

const DAY_MS = 86_400_000
const PATH = '/webhooks/{webhook_id}/replay'
const RESULTS = ['failure', 'exhausted', 'expired', 'cancelled', 'quarantined', 'delivered'] as const

interface ReplayResult {
  readonly delivery_ids?: readonly string[]
  readonly more?: boolean
  readonly next_from?: number | string
  readonly count?: number
  readonly capped?: boolean
}

export interface ReplayDialogProps {
  readonly accountId: string
  readonly webhookId: string
  /** Only this delivery. */
  readonly deliveryId?: string
  readonly onClose: () => void
}

export function ReplayDialog(props: ReplayDialogProps) {
  return (
    <Dialog title={t('replay.title')} onClose={props.onClose}>
      {props.deliveryId === undefined ? <ReplayRange {...props} /> : <ReplayOne {...props} />}
    </Dialog>
  )
}

function ReplayOne({ accountId, webhookId, deliveryId, onClose }: ReplayDialogProps) {
  const action = useAction(async () => {
    const data = { delivery_id: deliveryId }
    const { delivery_ids = [] } = await accountRequest<ReplayResult>('PUT', PATH, {
      accountId,
      webhookId,
      data,
    })
    onClose()
    const [id] = delivery_ids
    notify(t('replay.done', { count: delivery_ids.length }))
    if (id !== undefined) navigate({ screen: 'delivery', accountId, id })
  })
  return (
    <>
      <p>{t('replay.one')}</p>
      <p class="buttons">
        <button type="button" onClick={onClose}>
          {t('action.cancel')}
        </button>
        <ActionButton action={action} class="primary">
          {t('action.replay')}
        </ActionButton>
      </p>
    </>
  )
}

function ReplayRange({ accountId, webhookId, onClose }: ReplayDialogProps) {
  const nowMs = Date.now()
  const from = useSignal(inputTime(nowMs - DAY_MS))
  const to = useSignal(inputTime(nowMs + 60_000))
  const result = useSignal<string>('failure')
  const counted = useSignal<ReplayResult | undefined>(undefined)
  const replayed = useSignal(0)
  const range = () => ({
    created_from: toGregorian(parseInputTime(from.value, zone.peek()) ?? nowMs - DAY_MS),
    created_to: toGregorian(parseInputTime(to.value, zone.peek()) ?? nowMs),
    result: result.value,
  })
  const cancelled = useSignal(0)
  const isWithCancelled = useSignal(false)
  const countOf = (wanted: string) =>
    accountRequest<ReplayResult>('PUT', PATH, {
      accountId,
      webhookId,
      data: { ...range(), result: wanted, dry_run: true },
    })
  const count = useAction(async () => {
    const found = await countOf(result.value)
    // What was cancelled when somebody disabled the webhook has not failed, and is easily forgotten.
    cancelled.value = result.value === 'failure' ? ((await countOf('cancelled')).count ?? 0) : 0
    isWithCancelled.value = false
    counted.value = found
  })
  const replayAll = async (selected: Readonly<Record<string, unknown>>) => {
    let data = selected
    for (;;) {
      const address = { accountId, webhookId, data }
      const { delivery_ids = [], more, next_from } = await accountRequest<ReplayResult>('PUT', PATH, address)
      replayed.value += delivery_ids.length
      if (!more || next_from === undefined || delivery_ids.length === 0) return
      data = { ...data, created_from: next_from }
    }
  }
  const replay = useAction(async () => {
    const chosen = range()
    if (isWithCancelled.value) await replayAll({ ...chosen, result: 'cancelled' })
    await replayAll(chosen)
    notify(t('replay.done', { count: replayed.value }))
    onClose()
  })
  const change = (field: typeof from) => (event: { readonly currentTarget: { readonly value: string } }) => {
    field.value = event.currentTarget.value
    counted.value = undefined
  }
  const found = counted.value
  const canCount = hasFeature('dryRun')
  return (
    <>
      <p>{t('replay.range')}</p>
      <div class="fields">
        <label>
          <span>{t('filter.from')}</span>
          <input type="datetime-local" value={from.value} onInput={change(from)} />
        </label>
        <label>
          <span>{t('filter.to')}</span>
          <input type="datetime-local" value={to.value} onInput={change(to)} />
        </label>
        <label>
          <span>{t('filter.result')}</span>
          <select value={result.value} onChange={change(result)}>
            {RESULTS.map((name) => (
              <option key={name} value={name}>
                {t(`state.${name}`)}
              </option>
            ))}
          </select>
        </label>
      </div>
      {found?.count !== undefined && (
        <p role="status">
          {t('replay.count', { count: found.count })}
          {found.capped && ` ${t('replay.capped')}`}
        </p>
      )}
      {found && cancelled.value > 0 && (
        <label class="choice">
          <input
            type="checkbox"
            checked={isWithCancelled.value}
            onChange={(event) => {
              isWithCancelled.value = event.currentTarget.checked
            }}
          />
          {t('replay.cancelled', { count: cancelled.value })}
        </label>
      )}
      {replay.isRunning.value && (
        <p role="status">{t('replay.progress', { replayed: number(replayed.value) })}</p>
      )}
      <p class="buttons">
        <button type="button" onClick={onClose}>
          {t('action.cancel')}
        </button>
        {found === undefined && canCount ? (
          <ActionButton action={count} class="primary">
            {t('replay.countFirst')}
          </ActionButton>
        ) : (
          canCount !== undefined &&
          (found?.count !== 0 || isWithCancelled.value) && (
            <ActionButton action={replay} class="primary">
              {t('action.replay')}
            </ActionButton>
          )
        )}
      </p>
    </>
  )
}

/** A time as `<input type="datetime-local">` writes it, in the user's zone. */
const inputTime = (ms: number) => exactTime(ms, zone.peek()).slice(0, 16).replace(' ', 'T')
