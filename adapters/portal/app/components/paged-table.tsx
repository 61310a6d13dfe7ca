/** A list that is loaded page by page, as a table: with its errors, its age, and what to do where it is empty. */
import type { ComponentChildren } from 'preact'
import type { PagedList } from '../state/paged-list.js'
import { t } from '../state/translate.js'
import { LoadError } from './load-state.js'
import { Bone } from './panel.js'
import { VirtualTable, type VirtualTableProps } from './virtual-table.js'

interface PagedTableProps<Row>
  extends Omit<VirtualTableProps<Row>, 'rows' | 'onEnd' | 'isBusy' | 'isOpenEnded'> {
  readonly list: PagedList<Row>
  /** Shown where the list has no rows. */
  readonly empty: ComponentChildren
}

export function PagedTable<Row>({ list, empty, ...table }: PagedTableProps<Row>) {
  const rows = list.items.value
  const error = list.error.value
  const isComplete = list.isComplete.value
  // What is known to be empty stays so while it is read again.
  const isWaiting = list.isLoading.value && (!isComplete || list.isOutdated)
  const isEmpty = rows.length === 0 && !isWaiting && error === undefined
  return (
    <>
      {error !== undefined && (
        <LoadError error={error} loadedMs={list.loadedMs.value} onRetry={list.reload} />
      )}
      {rows.length > 0 && (
        <VirtualTable
          {...table}
          rows={rows}
          isBusy={list.isOutdated}
          isOpenEnded={!isComplete}
          onEnd={list.loadMore}
        />
      )}
      {rows.length === 0 && isWaiting && <Bone />}
      {isEmpty && empty}
      {isEmpty && !isComplete && (
        // A service may stop before the first match and continue from there.
        <button type="button" onClick={list.loadMore}>
          {t('list.more')}
        </button>
      )}
    </>
  )
}
