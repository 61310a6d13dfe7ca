/** Replays one delivery, or all that are selected: the count is shown first. */
import { useSignal } from '@preact/signals'
import type { Hook } from 'hookswitch/client'
import { page } from '../api/api.js'
import { type ReplayScope, replay, startedReplays } from '../api/replays.js'
import { Dialog } from '../components/dialog.js'
import { ActionButton } from '../components/load-state.js'
import { Select } from '../components/select.js'
import { useAction } from '../state/action.js'
import { notify } from '../state/announce.js'
import { zone } from '../state/preferences.js'
import { useResource } from '../state/resource.js'
import { navigate } from '../state/router.js'
import { t } from '../state/translate.js'
import { toGregorian } from '../text/gregorian-time.js'
import { parseInputTime } from '../text/times.js'

const RESULTS = ['failure', 'exhausted', 'expired', 'cancelled', 'quarantined', 'delivered'] as const
/** Longest reason, characters. */
const MAX_REASON = 256

export interface ReplayOneDialogProps {
  readonly accountId: string
  readonly webhookId: string
  readonly deliveryId: string
  readonly onClose: () => void
}

/** Replays this delivery, and shows the new one. */
export function ReplayOneDialog({ accountId, webhookId, deliveryId, onClose }: ReplayOneDialogProps) {
  const action = useAction(async () => {
    const { delivery_ids } = await replay<{ readonly delivery_ids: readonly [string] }>(
      { accountId, webhookId },
      { delivery_id: deliveryId },
    )
    onClose()
    notify(t('replay.done', { count: 1 }))
    navigate({ screen: 'delivery', accountId, id: delivery_ids[0] })
  })
  return (
    <Dialog title={t('replay.title')} onClose={onClose}>
      <p>{t('replay.one')}</p>
      <p class="buttons">
        <button type="button" onClick={onClose}>
          {t('action.cancel')}
        </button>
        <ActionButton action={action} class="primary">
          {t('action.replay')}
        </ActionButton>
      </p>
    </Dialog>
  )
}

export interface ReplayDialogProps extends ReplayScope {
  readonly onClose: () => void
}

interface Selection {
  readonly from: string
  readonly to: string
  readonly result: string
  readonly hook: string
  readonly reason: string
  readonly isWithRecovered: boolean
}

const NOT_DELIVERED: Selection = {
  from: '',
  to: '',
  result: 'failure',
  hook: '',
  reason: '',
  isWithRecovered: false,
}

/** Selects deliveries, counts them, and starts a job that replays them. */
export function ReplayDialog({ onClose, ...scope }: ReplayDialogProps) {
  const selection = useSignal(NOT_DELIVERED)
  const counted = useSignal<number | undefined>(undefined)
  const hooks = useResource(() => page<Hook>('/webhooks', { pageSize: 1_000 }), [])
  const chosen = selection.value
  const change = (changed: Partial<Selection>) => {
    selection.value = { ...selection.peek(), ...changed }
    counted.value = undefined
  }
  const count = useAction(async () => {
    const selected = selection.peek()
    const found = await replay<{ readonly count: number }>(scope, { ...dataOf(selected), dry_run: true })
    // The count of an earlier selection says nothing about this one.
    if (selection.peek() === selected) counted.value = found.count
  })
  const start = useAction(async () => {
    await replay(scope, dataOf(selection.peek()))
    onClose()
    startedReplays.value += 1
  })
  const isEmptyRange = msOf(chosen.to, Number.POSITIVE_INFINITY) < msOf(chosen.from, 0)
  return (
    <Dialog title={t('replay.title')} onClose={onClose}>
      <p>{t(scopeText(scope))}</p>
      <div class="fields">
        <Select
          class="field"
          label={t('filter.result')}
          value={chosen.result}
          options={RESULTS.map((name) => [
            name as string,
            name === 'failure' ? t('replay.notDelivered') : t(`state.${name}`),
          ])}
          onChange={(result) => change({ result })}
        />
        <Select
          class="field"
          label={t('filter.hook')}
          value={chosen.hook}
          options={[
            ['', t('filter.all')],
            ...(hooks.data.value?.items ?? []).map(({ id }) => [id, id] as const),
          ]}
          onChange={(hook) => change({ hook })}
        />
        {(['from', 'to'] as const).map((end) => (
          <label class="field" key={end}>
            <span>{t(`filter.${end}`)}</span>
            <input
              type="datetime-local"
              value={chosen[end]}
              onInput={(event) => change({ [end]: event.currentTarget.value })}
            />
          </label>
        ))}
        <label class="field">
          <span>{t('match.why')}</span>
          <input
            value={chosen.reason}
            maxLength={MAX_REASON}
            placeholder="status 500"
            autocapitalize="none"
            spellcheck={false}
            onInput={(event) => change({ reason: event.currentTarget.value })}
          />
        </label>
      </div>
      <label class="choice">
        <input
          type="checkbox"
          checked={chosen.isWithRecovered}
          onChange={(event) => change({ isWithRecovered: event.currentTarget.checked })}
        />
        {t('replay.withRecovered')}
      </label>
      {isEmptyRange && <p class="bad">{t('filter.empty')}</p>}
      {counted.value !== undefined && (
        <p role="status">
          <strong>{t('replay.count', { count: counted.value })}</strong>{' '}
          {counted.value > 0 && t('replay.leave')}
        </p>
      )}
      <p class="buttons">
        <button type="button" onClick={onClose}>
          {t('action.cancel')}
        </button>
        {!isEmptyRange && counted.value === undefined && (
          <ActionButton action={count} class="primary">
            {t('replay.countFirst')}
          </ActionButton>
        )}
        {counted.value !== undefined && counted.value > 0 && (
          <ActionButton action={start} class="primary">
            {t('replay.start', { count: counted.value })}
          </ActionButton>
        )}
      </p>
    </Dialog>
  )
}

function scopeText({ accountId, webhookId }: ReplayScope) {
  if (webhookId !== undefined) return 'replay.webhook'
  return accountId === undefined ? 'replay.all' : 'replay.account'
}

const msOf = (input: string, absent: number) => parseInputTime(input, zone.peek()) ?? absent

/** The selection as the service takes it: what is empty does not limit it. */
function dataOf({ from, to, result, hook, reason, isWithRecovered }: Selection) {
  return {
    result,
    ...(from !== '' && { created_from: toGregorian(msOf(from, 0)) }),
    ...(to !== '' && { created_to: toGregorian(msOf(to, 0)) }),
    ...(hook !== '' && { hook }),
    ...(reason.trim() !== '' && { reason: reason.trim() }),
    ...(isWithRecovered && { include_recovered: true }),
  }
}
