/** Replays one delivery, or all that are selected: how many there are is shown first. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type ReplayProposal, type ReplayScope, replay, startedReplays } from '../api/replays.js'
import { Button } from '../components/button.js'
import { Dialog } from '../components/dialog.js'
import { Field } from '../components/field.js'
import { Icon } from '../components/icon.js'
import { describe, useAction } from '../state/action.js'
import { notify } from '../state/announce.js'
import { kindOptions } from '../state/kinds.js'
import { zone } from '../state/preferences.js'
import { navigate } from '../state/router.js'
import { number, t } from '../state/translate.js'
import { toGregorian } from '../text/gregorian-time.js'
import { inputTime, parseInputTime } from '../text/times.js'

/** Ends of deliveries that a replay can repeat. */
const FAILURES = ['exhausted', 'expired', 'cancelled'] as const
const RESULTS = [...FAILURES, 'delivered'] as const
type Result = (typeof RESULTS)[number]
const RESULT_TEXTS = {
  exhausted: 'replay.exhausted',
  expired: 'replay.expired',
  cancelled: 'replay.cancelled',
  delivered: 'replay.delivered',
} as const
/** Longest reason, characters. */
const MAX_REASON = 256
/** How long nothing changes until it is counted: a count walks over all that is kept. */
const COUNT_AFTER_MS = 400

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
    <Dialog
      title={t('replay.oneTitle')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button
            kind="primary"
            icon="replay"
            busy={action.isRunning.value ? t('replay.starting') : undefined}
            onClick={() => void action.run()}
          >
            {t('action.replay')}
          </Button>
        </>
      }
    >
      <p>{t('replay.one')}</p>
    </Dialog>
  )
}

export interface ReplayDialogProps extends ReplayScope, ReplayProposal {
  readonly onClose: () => void
}

interface Selection {
  /** Values of inputs. */
  readonly from: string
  readonly to: string
  readonly results: readonly Result[]
  readonly hook: string
  readonly reason: string
  readonly isWithRecovered: boolean
}

/** What was counted of a selection. */
type Counts = Readonly<Partial<Record<Result, number>>>

/** Selects deliveries, counts them, and starts jobs that replay them: one for each way in which they ended. */
export function ReplayDialog({ onClose, from, waiting = 0, ...scope }: ReplayDialogProps) {
  const selection = useSignal<Selection>({
    from: from === undefined ? '' : inputTime(Date.parse(from), zone.peek()),
    to: '',
    results: ['exhausted', 'expired'],
    hook: '',
    reason: '',
    isWithRecovered: false,
  })
  const chosen = selection.value
  const change = (changed: Partial<Selection>) => {
    selection.value = { ...selection.peek(), ...changed }
  }
  const isEmptyRange = msOf(chosen.to, Number.POSITIVE_INFINITY) < msOf(chosen.from, 0)
  const { counts, error, countAgain } = useCounts(scope, chosen, isEmptyRange)
  const wanted = chosen.results.map((result) => counts[result])
  const count = wanted.includes(undefined)
    ? undefined
    : wanted.reduce<number>((total, next) => total + (next ?? 0), 0)
  const start = useAction(async () => {
    const selected = selection.peek()
    for (const result of selected.results)
      if ((counts[result] ?? 0) > 0) await replay(scope, dataOf(selected, result))
    onClose()
    startedReplays.value += 1
  })
  const choose = (result: Result, isChosen: boolean) =>
    change({
      results: RESULTS.filter((name) => (name === result ? isChosen : chosen.results.includes(name))),
    })
  return (
    <Dialog
      title={t('replay.title')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button
            kind="primary"
            icon="replay"
            disabled={!count}
            busy={start.isRunning.value ? t('replay.starting') : undefined}
            onClick={() => void start.run()}
          >
            {count ? t('replay.start', { count }) : t('action.replay')}
          </Button>
        </>
      }
    >
      {scope.webhookId === undefined && (
        <p>{t(scope.accountId === undefined ? 'replay.all' : 'replay.account')}</p>
      )}
      <div class="two">
        {(['from', 'to'] as const).map((end) => (
          <Field
            key={end}
            label={t(end === 'from' ? 'replay.from' : 'replay.to')}
            problem={end === 'to' && isEmptyRange ? t('filter.empty') : undefined}
          >
            <input
              type="datetime-local"
              value={chosen[end]}
              onInput={(event) => change({ [end]: event.currentTarget.value })}
            />
          </Field>
        ))}
      </div>
      {FAILURES.map((result) => (
        <Choice key={result} {...{ result, chosen, count: counts[result], onChoose: choose }} />
      ))}
      <details>
        <summary>
          <Icon name="right" />
          {t('replay.more')}
        </summary>
        <div class="stack">
          <Field label={t('replay.kind')}>
            <select value={chosen.hook} onChange={(event) => change({ hook: event.currentTarget.value })}>
              <option value="">{t('filter.all')}</option>
              {kindOptions(chosen.hook).map(({ value, text }) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </Field>
          <Field label={t('replay.reason')} hint={t('replay.reasonHint')}>
            <input
              value={chosen.reason}
              maxLength={MAX_REASON}
              autocapitalize="none"
              spellcheck={false}
              onInput={(event) => change({ reason: event.currentTarget.value })}
            />
          </Field>
          <Choice result="delivered" {...{ chosen, count: counts.delivered, onChoose: choose }} />
          <label class="row">
            <input
              type="checkbox"
              checked={chosen.isWithRecovered}
              onChange={(event) => change({ isWithRecovered: event.currentTarget.checked })}
            />
            {t('replay.withRecovered')}
          </label>
        </div>
      </details>
      {!isEmptyRange && (
        <p class="count-line" role="status">
          {error !== undefined ? (
            <>
              <span>{describe(error)}</span>
              <Button size="tiny" onClick={countAgain}>
                {t('action.retry')}
              </Button>
            </>
          ) : count === undefined ? (
            t('replay.counting')
          ) : (
            <>
              <b>{number(count)}</b>
              <span>{t('replay.count', { count })}</span>
            </>
          )}
        </p>
      )}
      <p class="soft small">
        {waiting > 0 && t('replay.queue', { count: waiting })} {t('replay.leave')}
      </p>
    </Dialog>
  )
}

interface ChoiceProps {
  readonly result: Result
  readonly chosen: Selection
  readonly count: number | undefined
  readonly onChoose: (result: Result, isChosen: boolean) => void
}

function Choice({ result, chosen, count, onChoose }: ChoiceProps) {
  return (
    <label class="row">
      <input
        type="checkbox"
        checked={chosen.results.includes(result)}
        onChange={(event) => onChoose(result, event.currentTarget.checked)}
      />
      {t(RESULT_TEXTS[result])}
      {count !== undefined && <span class="faint nowrap">({number(count)})</span>}
    </label>
  )
}

/**
 * How many deliveries of a selection ended in each way. One count runs at a time, as the service allows no more; a later
 * selection replaces one that has not been counted.
 */
function useCounts(scope: ReplayScope, selection: Selection, isEmptyRange: boolean) {
  const counts = useSignal<Counts>({})
  const error = useSignal<unknown>(undefined)
  const version = useSignal(0)
  const running = useRef<Promise<void>>(Promise.resolve())
  const { results, ...limits } = selection
  // Selected ones first: the button waits for them.
  const wanted = [
    ...results,
    ...RESULTS.filter((result) => result !== 'delivered' && !results.includes(result)),
  ]
  useEffect(() => {
    counts.value = {}
    error.value = undefined
    let isCurrent = true
    const countAll = async () => {
      for (const result of wanted) {
        if (!isCurrent) return
        const found = await replay<{ readonly count: number }>(scope, {
          ...dataOf(selection, result),
          dry_run: true,
        })
        if (isCurrent) counts.value = { ...counts.peek(), [result]: found.count }
      }
    }
    const timer = setTimeout(() => {
      if (isEmptyRange) return
      running.current = running.current.then(countAll).catch((thrown: unknown) => {
        if (isCurrent) error.value = thrown
      })
    }, COUNT_AFTER_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [JSON.stringify(limits), results.includes('delivered'), version.value])
  return {
    counts: counts.value,
    error: error.value,
    countAgain() {
      version.value += 1
    },
  }
}

const msOf = (input: string, absent: number) => parseInputTime(input, zone.peek()) ?? absent

/** The selection as the service takes it: what is empty does not limit it. */
function dataOf({ from, to, hook, reason, isWithRecovered }: Omit<Selection, 'results'>, result: Result) {
  return {
    result,
    ...(from !== '' && { created_from: toGregorian(msOf(from, 0)) }),
    ...(to !== '' && { created_to: toGregorian(msOf(to, 0)) }),
    ...(hook !== '' && { hook }),
    ...(reason.trim() !== '' && { reason: reason.trim() }),
    ...(isWithRecovered && { include_recovered: true }),
  }
}
