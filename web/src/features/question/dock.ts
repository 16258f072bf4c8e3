/** Stays in sight at the bottom, under a question of any length; with many answers it scrolls in itself, so that the question can be read. */
export const DOCK =
  'sticky bottom-0 z-20 max-h-[40dvh] overflow-y-auto overscroll-contain -mx-4 border-t bg-page/95 px-4 py-3 backdrop-blur sm:-mx-8 sm:px-8 supports-[backdrop-filter]:bg-page/85';
