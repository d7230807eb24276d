# What `cmake --install` puts where, so that find_package(Weft) works from the installed tree.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/weft" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

foreach(tool weft weft-run weft-opt weft-lsp-server weft-ptx)
  if(TARGET ${tool})
    install(TARGETS ${tool} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
    # The tools find the libraries of their own installed tree, wherever it is moved, and MLIR where the distribution has it.
    set_target_properties(${tool} PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" INSTALL_RPATH_USE_LINK_PATH TRUE)
  endif()
endforeach()
foreach(library weft_runtime_shared weft_compiler_shared weft_simcuda)
  if(TARGET ${library})
    install(TARGETS ${library} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    set_target_properties(${library} PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH TRUE)
  endif()
endforeach()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/WeftConfig.cmake.in" "${PROJECT_BINARY_DIR}/WeftConfig.cmake"
  INSTALL_DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/Weft"
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/WeftConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/WeftConfig.cmake" "${PROJECT_BINARY_DIR}/WeftConfigVersion.cmake"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/Weft")
